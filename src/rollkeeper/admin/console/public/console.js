// The console: keeps the state from the feed, and renders at most once per frame.
import { html, nothing, render } from '/console/lit-html.js';
import { actActions, actDialog, isAct } from '/console/acts.js';
import { addressOf, parseAsk, readAddress } from '/console/address.js';
import { TABS, topBar } from '/console/bar.js';
import { clusterActions, clustersView, handOverDialog, takeOver } from '/console/clusters.js';
import { recall, takeInCluster } from '/console/cluster-news.js';
import { detail } from '/console/detail.js';
import { dialogKeys, focusSoon } from '/console/dialogs.js';
import { call, follow, whenSessionEnds } from '/console/feed.js';
import { noticeActions, noticeOf, noticesNow } from '/console/notices.js';
import { objectivesActions, objectivesView } from '/console/objectives.js';
import { objectActions } from '/console/object.js';
import { objectsActions, objectsView } from '/console/objects.js';
import { palette, paletteActions } from '/console/palette.js';
import { nameOf } from '/console/parts.js';
import { placementActions, placementDialog } from '/console/placement.js';
import { podLogActions } from '/console/pod-log.js';
import { problemActions, problemsView } from '/console/problems.js';
import { queueActions, queuesView } from '/console/queues.js';
import { replicasView } from '/console/replicas.js';
import { rolloutActions, rolloutDialog } from '/console/rollout.js';
import { rolloutList, visible } from '/console/rollouts.js';
import {
  learnWays,
  learnWho,
  sessionActions,
  signInByLink,
  signInByProvider,
  tokenDialog,
} from '/console/session.js';
import { timelineActions } from '/console/timeline.js';
import { acceptTraceFiles, traceFileActions, traceFileDialog } from '/console/trace-file.js';
import { traceActions, traceDialog } from '/console/trace.js';

const TAB_IDS = TABS.map(([id]) => id);
const EXPLAIN_EVERY_MS = 1000;
const EXPLAIN_SOON_MS = 150;
const LOOK_EVERY_MS = 5000;

/** The list and a Deployment are not beside each other, as narrow.css has it. */
const NARROW = matchMedia('(max-width: 740px)');

const state = {
  /** Whether the selection moves with the keys: the list stays where there is no room for both. */
  isWalking: false,
  ...readAddress(location, TAB_IDS),
  theme: localStorage.getItem('rollkeeper-theme') ?? '',
  watchesDeployments: true,
  deployments: new Map(),
  /** Grows with each change of the deployments. */
  changes: 0,
  listed: false,
  missing: undefined,
  explanation: undefined,
  rollout: undefined,
  asked: undefined,
  scrollTop: 0,
  viewport: 0,
  cluster: undefined,
  clusterAtMs: 0,
  clusters: undefined,
  clustersOpen: false,
  clusterProblems: {},
  handOverProblem: undefined,
  queues: undefined,
  history: [],
  shownTrace: undefined,
  traceFile: undefined,
  problems: undefined,
  placed: undefined,
  acting: undefined,
  kinds: undefined,
  objects: undefined,
  page: undefined,
  log: undefined,
  timeline: undefined,
  timelineDiff: undefined,
  timelineHides: ['events'],
  palette: undefined,
  objectives: undefined,
  notices: noticesNow(),
  caller: undefined,
  who: undefined,
  ways: undefined,
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
// The part of the address that other tabs keep has its usual value until then.
for (const tab of TAB_IDS) {
  const others = readAddress({ hash: `#${tab}`, search: '' }, TAB_IDS);
  for (const [field, value] of Object.entries(others)) state[field] ??= value;
}

let drawn = false;
function draw() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    drawNow();
    const rows = document.getElementById('rows');
    if (rows && rows.clientHeight !== state.viewport) {
      state.viewport = rows.clientHeight;
      draw();
    }
  });
}

function drawNow() {
  render(wholePage(), document.getElementById('app'));
}

function set(change) {
  Object.assign(state, change);
  draw();
}

/** The parts of the page that the actions of other files use. */
const page = {
  state,
  draw,
  drawNow,
  set,
  announce,
  focusSoon,
  learnWho: () => learnWho(page),
  learnKinds: () => actions.learnKinds(),
  withToken: (again) => actions.askToken(again),
  /** A step that the back button takes back. */
  go(change) {
    set(change);
    const address = addressOf(state);
    if (address !== location.pathname + location.search + location.hash)
      history.pushState(undefined, '', address);
  },
  /** A change that is kept in the address, and is no step of its own: typing, and walking a list. */
  amend(change) {
    set(change);
    history.replaceState(undefined, '', addressOf(state));
  },
  open: (change) => page.go(change),
  close: (change) => page.amend(change),
  /** Something was changed: reads it again. */
  refresh() {
    void explain();
    lookAround();
  },
  lookAround,
  openRollout(key) {
    page.go({ tab: 'rollouts', selected: key, isWalking: false, look: 'now', at: undefined });
    void explain();
  },
};

const actions = {
  set,
  dialogKeys,
  amend: page.amend,
  /** @param walked with the keys: no step for the back button */
  select(key, walked = false) {
    page[walked ? 'amend' : 'go']({ selected: key, isWalking: walked, at: undefined });
    void explain();
    void actions.readTimeline();
  },
  /** Shows the list if it and a Deployment do not fit beside each other. */
  showList() {
    if (state.tab === 'objects') page.go({ object: undefined });
    else page.go({ selected: undefined, isWalking: false, at: undefined });
    focusSoon('#rows, #objects');
  },
  tab(id) {
    page.go({ tab: id, clustersOpen: false });
    if (id === 'rollouts') selectFirst();
    lookAround();
  },
  theme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    state.theme = dark ? 'light' : 'dark';
    localStorage.setItem('rollkeeper-theme', state.theme);
    applyTheme();
  },
  personName() {
    return localStorage.getItem('rollkeeper-person') ?? '';
  },
};
for (const more of [
  sessionActions,
  actActions,
  rolloutActions,
  problemActions,
  placementActions,
  traceActions,
  traceFileActions,
  timelineActions,
  queueActions,
  objectsActions,
  objectActions,
  podLogActions,
  objectivesActions,
  noticeActions,
  paletteActions,
  clusterActions,
])
  Object.assign(actions, more(page));

function selectFirst() {
  const [first] = visible(state);
  if (!state.selected && first && state.tab === 'rollouts' && !NARROW.matches)
    actions.select(first.key, true);
}

/** Reads what the view that is open shows beside the feed. */
function lookAround() {
  void actions.lookIntoQueue();
  void actions.lookForProblems();
  void actions.listObjects();
  void actions.readObject();
  void actions.readTimeline();
  void actions.readObjectives();
  void actions.lookAtClusters();
}

function applyTheme() {
  if (state.theme) document.documentElement.dataset.theme = state.theme;
}

/** Whether a Deployment or an object is open; where there is no room for its list, that is not shown. */
function showsOne() {
  return state.tab === 'objects'
    ? state.object !== undefined
    : state.selected !== undefined && !state.isWalking;
}

function wholePage() {
  return html`
    ${topBar(state, actions)}
    <main id="main" tabindex="-1">
      <div
        class="view ${state.tab} ${showsOne() ? 'one' : 'all'}"
        id="view"
        role="tabpanel"
        aria-labelledby="tab-${state.tab}"
      >
        ${state.tab === 'rollouts' ? html`${rolloutList(state, actions)} ${detail(state, actions)}` : nothing}
        ${state.tab === 'problems' ? problemsView(state, actions) : nothing}
        ${state.tab === 'objects' ? objectsView(state, actions) : nothing}
        ${state.tab === 'replicas' ? replicasView(state) : nothing}
        ${state.tab === 'queues' ? queuesView(state, actions) : nothing}
        ${state.tab === 'clusters' ? clustersView(state, actions) : nothing}
        ${state.tab === 'objectives' ? objectivesView(state, actions) : nothing}
      </div>
    </main>
    ${state.asksToken ? nothing : rolloutDialog(state, actions)} ${tokenDialog(state, actions)}
    ${traceDialog(state, actions)} ${traceFileDialog(state, actions)} ${placementDialog(state, actions)}
    ${state.asksToken ? nothing : actDialog(state, actions)}
    ${state.asksToken ? nothing : handOverDialog(state, actions)} ${palette(state, actions)}
  `;
}

/** The path of a rollout with more of it, before the query that its key may have. */
function inPath(key, more) {
  const [path, query] = key.split('?');
  return `${path}${more}${query === undefined ? '' : `?${query}`}`;
}

let explaining = false;
async function explain() {
  const key = state.selected;
  if (!key || explaining) return;
  explaining = true;
  try {
    const [answer, rollout] = await Promise.all([
      call('GET', `/admin/rollouts/${inPath(key, '/explanation')}`),
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

let announcing;
/** For screen readers, rate limited. */
function announce(text) {
  clearTimeout(announcing);
  announcing = setTimeout(() => (document.getElementById('announce').textContent = text), 1000);
}

/** Opens what the address names: a trace, or a question. */
function openFromAddress() {
  const { ask, trace } = state;
  if (trace !== state.shownTrace?.id) {
    set({ shownTrace: undefined });
    if (trace) void actions.showTrace(trace);
  }
  if (ask === undefined) return set({ acting: undefined, asked: undefined, placed: undefined });
  const { path = '', revision, verb } = parseAsk(ask) ?? {};
  const [word, ...rest] = path.split('/');
  if (verb === 'placement' && rest.length === 2) void actions.showPlacement(...rest);
  else if (word === 'rollouts') actions.askAbout({ verb, item: { key: rest.join('/') }, revision });
  else if (isAct(verb)) actions.askAct({ path, verb });
}

acceptTraceFiles(actions);

addEventListener('popstate', () => {
  set(readAddress(location, TAB_IDS));
  openFromAddress();
  page.refresh();
});

const HANDLERS = {
  hello({ identity, watchesDeployments }) {
    state.identity = identity;
    state.watchesDeployments = watchesDeployments;
    if (!watchesDeployments && state.tab === 'rollouts') page.amend({ tab: 'queues' });
    state.deployments = new Map();
    state.changes++;
    state.listed = false;
    state.missing = undefined;
    if (state.history.length === 0) void recall(page);
  },
  deployments({ changed, gone }) {
    state.changes++;
    for (const item of changed) {
      noticeOf(state.deployments.get(item.key), item, page.openRollout);
      state.deployments.set(item.key, item);
    }
    for (const key of gone) state.deployments.delete(key);
    if (changed.some(({ key }) => key === state.selected)) setTimeout(() => void explain(), EXPLAIN_SOON_MS);
  },
  listed() {
    state.listed = true;
    selectFirst();
  },
  missing({ replicas, unowned }) {
    state.missing = { replicas, unowned };
  },
  cluster: (event) => takeInCluster(state, event),
  decisions({ decisions }) {
    const shown = state.deployments.get(state.selected);
    const name = shown && nameOf(shown).join('/');
    if (decisions.some(({ controller, key }) => controller === shown?.controller && key === name))
      void explain();
  },
  connection({ connected, failures = 0, refused = false, gaveWay = false }) {
    Object.assign(state, { connected, failures, refused, gaveWay });
    if (refused && failures === 0) actions.askToken();
  },
};

applyTheme();
draw();
whenSessionEnds(() => actions.sessionEnded());
void learnWays(page);
await signInByLink(page);
const returnTo = await signInByProvider(page);
if (returnTo !== undefined) {
  history.replaceState(undefined, '', `/console${returnTo}`);
  set(readAddress(location, TAB_IDS));
}
await takeOver(page);
void learnWho(page);
void actions.learnKinds();
openFromAddress();
lookAround();
setInterval(() => {
  void explain();
  void actions.lookIntoQueue();
}, EXPLAIN_EVERY_MS);
setInterval(() => {
  void actions.renewSession();
  void actions.lookForProblems();
  void actions.readObject();
  void actions.readTimeline();
  void actions.readObjectives();
  void actions.lookAtClusters();
}, LOOK_EVERY_MS);
// The lease's countdown runs between events of the feed.
setInterval(draw, 100);
void follow((event) => {
  HANDLERS[event.type]?.(event);
  draw();
});
