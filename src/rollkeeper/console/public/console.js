// The console: keeps the state from the feed, and renders at most once per frame.
import { html, nothing, render } from '/console/lit-html.js';
import { actActions, actDialog } from '/console/acts.js';
import { detail } from '/console/detail.js';
import { call, follow, token } from '/console/feed.js';
import { ago, clockTime, countdownRing, nameOf } from '/console/parts.js';
import { leaseLeftMs, replicasView } from '/console/replicas.js';
import { queuesView, tokenDialog } from '/console/queues.js';
import { placementDialog, problemActions, problemsView } from '/console/problems.js';
import { traceDialog } from '/console/trace.js';
import { rolloutDialog } from '/console/rollout.js';
import { rolloutList, visible } from '/console/rollouts.js';

const TABS = [
  ['rollouts', 'Rollouts'],
  ['problems', 'Problems'],
  ['replicas', 'Replicas'],
  ['queues', 'Queues'],
];
const EXPLAIN_EVERY_MS = 1000;
const EXPLAIN_SOON_MS = 150;
const PROBLEMS_EVERY_MS = 5000;
const HISTORY_KEPT = 50;

const state = {
  tab: TABS.some(([id]) => `#${id}` === location.hash) ? location.hash.slice(1) : 'rollouts',
  theme: localStorage.getItem('rollkeeper-theme') ?? '',
  watchesDeployments: true,
  deployments: new Map(),
  listed: false,
  selected: new URLSearchParams(location.search).get('deployment') ?? undefined,
  explanation: undefined,
  rollout: undefined,
  asked: undefined,
  filter: 'all',
  search: '',
  scrollTop: 0,
  viewport: 0,
  cluster: undefined,
  clusterAtMs: 0,
  queues: undefined,
  history: [],
  shownTrace: undefined,
  problems: undefined,
  problemSearch: new URLSearchParams(location.search).get('problem') ?? '',
  placed: undefined,
  acting: undefined,
  caller: undefined,
  queueShown: 'deployment',
  queue: undefined,
  connected: false,
  gaveWay: false,
  failures: 0,
  asksToken: false,
  notice: '',
  identity: '',
  skewMs: 0,
  get nowMs() {
    return Date.now() + this.skewMs;
  },
};

let drawn = false;
function draw() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    render(wholePage(), document.getElementById('app'));
    const rows = document.getElementById('rows');
    if (rows && rows.clientHeight !== state.viewport) {
      state.viewport = rows.clientHeight;
      draw();
    }
  });
}

const actions = {
  set(change) {
    Object.assign(state, change);
    draw();
  },
  select(key) {
    state.selected = key;
    const url = new URL(location.href);
    url.searchParams.set('deployment', key);
    history.replaceState(undefined, '', url);
    void explain();
    draw();
  },
  tab(id) {
    history.replaceState(undefined, '', `#${id}`);
    actions.set({ tab: id });
    if (id === 'queues') void lookIntoQueue();
    if (id === 'problems') void actions.lookForProblems();
  },
  async showTrace(id) {
    if (!id) return actions.set({ shownTrace: undefined });
    const spans = await call('GET', `/admin/traces/${id}`).catch(() => []);
    actions.set({ shownTrace: { id, spans } });
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById('close-trace')?.focus()));
  },
  showQueue(controller) {
    actions.set({ queueShown: controller });
    void lookIntoQueue().then(() => requestAnimationFrame(() => requestAnimationFrame(showKeys)));
  },
  theme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    state.theme = dark ? 'light' : 'dark';
    localStorage.setItem('rollkeeper-theme', state.theme);
    applyTheme();
  },
  async onKey(controller, verb, key) {
    try {
      await call('POST', `/admin/queues/${controller}/${verb}`, { key });
      actions.set({ notice: `${key}: done` });
    } catch (error) {
      if (error.status === 401) {
        pending = () => actions.onKey(controller, verb, key);
        actions.set({ asksToken: true });
      } else actions.set({ notice: `${key}: ${error.message}` });
    }
  },
  /** Opens the question, or closes it. */
  askAbout(asked) {
    actions.set({ asked });
    if (asked?.verb === 'undo') void showChanges(asked);
  },
  personName() {
    return localStorage.getItem('rollkeeper-person') ?? '';
  },
  async sayToRollout({ by, reason }) {
    const { asked } = state;
    if (!asked) return;
    localStorage.setItem('rollkeeper-person', by);
    const [path, query = ''] = asked.item.key.split('?');
    const body = asked.verb === 'undo' ? { by, reason: reason ?? '', revision: asked.revision } : { by };
    try {
      await call('POST', `/admin/rollouts/${path}/${asked.verb}${query && `?${query}`}`, body);
      actions.set({ asked: undefined });
      announce(`${path}: ${asked.verb} done`);
      void explain();
    } catch (error) {
      if (error.status === 401) {
        pending = () => actions.sayToRollout({ by, reason });
        actions.set({ asksToken: true });
      } else actions.set({ asked: { ...asked, problem: error.message } });
    }
  },
  giveToken(secret) {
    state.asksToken = false;
    if (secret) {
      token.set(secret);
      void pending?.();
    }
    pending = undefined;
    draw();
  },
};
let pending;

/** What the actions of other files do with the page. */
const page = {
  state,
  set: (change) => actions.set(change),
  announce: (text) => announce(text),
  /** Asks for a token, and then does it again. */
  withToken(again) {
    pending = again;
    actions.set({ asksToken: true });
  },
  /** Of a dialog that is drawn with the next frame. */
  focusSoon(id) {
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(id)?.focus()));
  },
  /** Something was changed, and is looked at anew. */
  refresh() {
    void explain();
    void actions.lookForProblems();
  },
  openRollout(key) {
    actions.tab('rollouts');
    actions.select(key);
  },
};
Object.assign(actions, actActions(page), problemActions(page));

function applyTheme() {
  if (state.theme) document.documentElement.dataset.theme = state.theme;
}

const counted = (wanted) => {
  let count = 0;
  for (const { state: is } of state.deployments.values()) if (wanted.includes(is)) count++;
  return count;
};

function wholePage() {
  const stuck = counted(['blocked']);
  const degraded = counted(['degraded']);
  const parked = (state.queues ?? []).reduce((sum, { counts }) => sum + counts.parked, 0);
  return html`
    <header class="bar">
      <img src="/console/icon.svg" alt="" width="26" height="26" />
      <h1>Rollkeeper</h1>
      <nav role="tablist" aria-label="Views">
        ${tabs().map(
          ([id, word]) =>
            html`<button
              role="tab"
              id="tab-${id}"
              aria-selected=${state.tab === id}
              aria-controls="view"
              tabindex=${state.tab === id ? 0 : -1}
              @click=${() => actions.tab(id)}
              @keydown=${onTabKey}
            >
              ${word}${id === 'rollouts' && stuck > 0 ? html`<span class="badge">${stuck} stuck</span>` : nothing}${
                id === 'rollouts' && degraded > 0
                  ? html`<span class="badge degraded">${degraded} degraded</span>`
                  : nothing
              }${id === 'queues' && parked > 0 ? html`<span class="badge">${parked} parked</span>` : nothing}
            </button>`,
        )}
      </nav>
      <div class="facts">
        ${leaderFact()} ${connection()}
        <button class="plain theme" @click=${() => actions.theme()} aria-label="Light or dark">◐</button>
      </div>
    </header>
    ${lost()} ${silentStore()}
    <main id="main" tabindex="-1">
      <div class="view ${state.tab}" id="view" role="tabpanel" aria-labelledby="tab-${state.tab}">
        ${state.tab === 'rollouts' ? html`${rolloutList(state, actions)} ${detail(state, actions)}` : nothing}
        ${state.tab === 'problems' ? problemsView(state, actions) : nothing}
        ${state.tab === 'replicas' ? replicasView(state) : nothing}
        ${state.tab === 'queues' ? queuesView(state, actions) : nothing}
      </div>
    </main>
    ${state.asksToken ? nothing : rolloutDialog(state, actions)} ${tokenDialog(state, actions)}
    ${traceDialog(state, actions)} ${placementDialog(state, actions)}
    ${state.asksToken ? nothing : actDialog(state, actions)}
  `;
}

/** Without the rollouts if no controller watches Deployments. */
function tabs() {
  return TABS.filter(([id]) => id !== 'rollouts' || state.watchesDeployments);
}

function onTabKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const ids = tabs().map(([id]) => id);
  const next = ids[(ids.indexOf(state.tab) + step + ids.length) % ids.length];
  actions.tab(next);
  requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
}

function leaderFact() {
  const { cluster } = state;
  if (!cluster) return nothing;
  const part = cluster.lease ? leaseLeftMs(state) / cluster.lease.durationMs : 0;
  return html`<span class="fact ${cluster.leader ? '' : 'bad'}" id="leader"
    >${countdownRing(part)}<span
      >${cluster.leader ? html`<b>${cluster.leader}</b> leads` : 'nobody leads'}<small
        >epoch ${cluster.epoch} · ${replicaCount(cluster)}</small
      ></span
    ></span
  >`;
}

function replicaCount({ replicas }) {
  const count = replicas.filter(({ reachable }) => reachable).length;
  return count === 1 ? '1 replica' : `${count} replicas`;
}

function connection() {
  const store = state.connected ? state.cluster?.store : undefined;
  const isWell = state.connected && store?.answers !== false;
  const word =
    store?.answers === false ? `${nameOfStore(store)} silent` : state.connected ? 'live' : 'not connected';
  return html`<span class="fact live ${isWell ? 'on' : ''}"
    ><i class="lamp ${isWell ? 'on' : 'bad'}"></i>${word}</span
  >`;
}

function nameOfStore({ name }) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The shared store does not answer, so most of what is below is outdated. */
function silentStore() {
  const store = state.cluster?.store;
  if (!state.connected || !store || store.answers) return nothing;
  const since = store.silentSinceMs;
  return html`<p class="lost" role="alert" id="silent-store">
    <span
      ><b>${nameOfStore(store)} does not answer</b>${
        since === undefined ? '' : ` since ${clockTime(since)} (${ago(since, state.nowMs)})`
      }:
      ${store.meanwhile}.</span
    >
  </p>`;
}

/** The replica that serves this page is gone: links to the others. */
function lost() {
  if (state.gaveWay)
    return html`<p class="lost" role="alert">
      Many of these pages are open, so this one stopped. Click it to go on.
    </p>`;
  if (state.connected || state.failures < 2) return nothing;
  const others = (state.cluster?.replicas ?? []).filter(
    ({ adminUrl, identity }) => adminUrl && identity !== state.identity,
  );
  return html`<p class="lost" role="alert">
    ${state.refused ? 'This page needs a token.' : html`${state.identity || 'The replica'} does not answer; trying again.`}
    ${
      state.refused
        ? html`<button @click=${() => actions.set({ asksToken: true })}>Give it</button>`
        : others.map(({ adminUrl, identity }) => html`<a href="${adminUrl}/console">Go on at ${identity}</a>`)
    }
  </p>`;
}

async function showChanges(asked) {
  const [path, query = ''] = asked.item.key.split('?');
  const search = new URLSearchParams(query);
  search.set('revision', asked.revision);
  try {
    const { changes } = await call('GET', `/admin/rollouts/${path}/changes?${search}`);
    if (state.asked === asked) actions.set({ asked: { ...asked, changes } });
  } catch (error) {
    if (state.asked === asked) actions.set({ asked: { ...asked, changes: [], problem: error.message } });
  }
}

let explaining = false;
async function explain() {
  const key = state.selected;
  if (!key || explaining) return;
  explaining = true;
  try {
    const [answer, rollout] = await Promise.all([
      call('GET', `/admin/explain/deployments/${key}`),
      call('GET', `/admin/rollouts/${key}`).catch(() => undefined),
    ]);
    const said = state.explanation?.key === key && state.explanation.sentence;
    state.explanation = { key, ...answer };
    state.rollout = rollout && { key, ...rollout };
    if (said !== answer.sentence) announce(`${key}: ${answer.sentence}`);
    draw();
  } catch {
    // The replica or the connection is gone: the feed shows which.
  } finally {
    explaining = false;
    if (state.selected !== key) void explain();
  }
}

/** Below the queue table, which is longer than many windows, they would be out of sight. */
function showKeys() {
  const keys = document.getElementById('queue-keys');
  if (keys && keys.getBoundingClientRect().top > document.documentElement.clientHeight / 2)
    keys.scrollIntoView({ block: 'start' });
}

async function lookIntoQueue() {
  if (state.tab !== 'queues') return;
  try {
    state.queue = await call('GET', `/admin/queues/${state.queueShown}`);
    draw();
  } catch {
    // The next update shows the result.
  }
}

/** Events from before this page was opened, as far as the replica saw them. */
async function recall() {
  try {
    const { transitions } = await call('GET', '/admin/leadership');
    state.history = transitions
      .map(({ at, epoch, who, why }) => ({
        atMs: Date.parse(at),
        what: `${who.replace(/_[^_]*$/, '') || 'nobody'}: ${why === 'observed' ? 'seen as leader' : why} (epoch ${epoch})`,
      }))
      .toReversed();
    draw();
  } catch {
    // Older release, or not allowed: the page starts with what it sees.
  }
}

let announcing;
/** For screen readers, rate limited. */
function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => (document.getElementById('announce').textContent = text), 1000);
}

function note(what) {
  state.history = [{ atMs: state.nowMs, what }, ...state.history].slice(0, HISTORY_KEPT);
}

function onCluster({ cluster, nowMs, queues }) {
  const before = state.cluster;
  if (before && (before.leader !== cluster.leader || before.epoch !== cluster.epoch))
    note(
      cluster.leader
        ? `${cluster.leader} leads now (epoch ${cluster.epoch})${before.leader ? `, after ${before.leader}` : ''}`
        : `${before.leader} leads no longer`,
    );
  if (queues.length > 0 && !queues.some(({ controller }) => controller === state.queueShown))
    state.queueShown = queues[0].controller;
  const known = new Map((before?.replicas ?? []).map((replica) => [replica.identity, replica]));
  for (const replica of before ? cluster.replicas : []) {
    const was = known.get(replica.identity);
    if (!was) note(`${replica.identity} joined`);
    else if (was.pid !== replica.pid) note(`${replica.identity} came back as process ${replica.pid}`);
    else if (was.reachable !== replica.reachable)
      note(`${replica.identity} ${replica.reachable ? 'answers again' : 'does not answer'}`);
    known.delete(replica.identity);
  }
  for (const [identity] of known) note(`${identity} is gone`);
  state.cluster = cluster;
  state.queues = queues;
  if (!queues.some(({ controller }) => controller === state.queueShown))
    state.queueShown = queues[0]?.controller ?? '';
  state.clusterAtMs = performance.now();
  state.skewMs = nowMs - Date.now();
}

const HANDLERS = {
  hello({ identity, watchesDeployments }) {
    state.identity = identity;
    state.watchesDeployments = watchesDeployments;
    if (!watchesDeployments && state.tab === 'rollouts') actions.tab('queues');
    state.deployments = new Map();
    state.listed = false;
    if (state.history.length === 0) void recall();
  },
  deployments({ changed, gone }) {
    for (const item of changed) state.deployments.set(item.key, item);
    for (const key of gone) state.deployments.delete(key);
    if (changed.some(({ key }) => key === state.selected)) setTimeout(() => void explain(), EXPLAIN_SOON_MS);
  },
  listed() {
    state.listed = true;
    if (!state.selected) {
      const [first] = visible(state);
      if (first) actions.select(first.key);
    }
  },
  cluster: onCluster,
  decisions({ decisions }) {
    const shown = state.deployments.get(state.selected);
    const name = shown && nameOf(shown).join('/');
    if (decisions.some(({ controller, key }) => controller === shown?.controller && key === name))
      void explain();
  },
  connection({ connected, failures = 0, refused = false, gaveWay = false }) {
    Object.assign(state, { connected, failures, refused, gaveWay });
    if (refused && failures === 0) state.asksToken = true;
  },
};

applyTheme();
draw();
setInterval(() => {
  void explain();
  void lookIntoQueue();
}, EXPLAIN_EVERY_MS);
void actions.lookForProblems();
setInterval(() => void actions.lookForProblems(), PROBLEMS_EVERY_MS);
// The lease's countdown runs between events of the feed.
setInterval(draw, 100);
void follow((event) => {
  HANDLERS[event.type]?.(event);
  draw();
});
