// The bar at the top: tabs, who leads, whether the page is live; and below it what is wrong with the page itself.
import { html, nothing } from '/console/lit-html.js';
import { clusterMenu } from '/console/clusters.js';
import { ago, clockTime, countdownRing } from '/console/parts.js';
import { leaseLeftMs } from '/console/replicas.js';
import { signInNotice, whoFact } from '/console/session.js';

export const TABS = [
  ['rollouts', 'Rollouts'],
  ['problems', 'Problems'],
  ['objects', 'Objects'],
  ['replicas', 'Replicas'],
  ['queues', 'Queues'],
  ['objectives', 'Objectives'],
  ['clusters', 'Clusters'],
];

/** Without the rollouts if no controller watches Deployments. The menu leads to the clusters: the bar has no room for all. */
export function tabsOf(state) {
  const isShown = {
    rollouts: state.watchesDeployments,
    clusters: state.tab === 'clusters',
  };
  return TABS.filter(([id]) => isShown[id] ?? true);
}

export function topBar(state, actions) {
  return html`<header class="bar">
      <img src="/console/icon.svg" alt="" width="26" height="26" />
      ${clusterMenu(state, actions)}
      <nav role="tablist" aria-label="Views">
        ${tabsOf(state).map(
          ([id, word]) =>
            html`<button
              role="tab"
              id="tab-${id}"
              aria-selected=${state.tab === id}
              aria-controls="view"
              tabindex=${state.tab === id ? 0 : -1}
              @click=${() => actions.tab(id)}
              @keydown=${(event) => onTabKey(event, state, actions)}
            >
              ${word}${badges(id, state)}
            </button>`,
        )}
      </nav>
      <div class="facts">
        ${leaderFact(state)} ${connection(state)} ${whoFact(state, actions)}
        <button
          class="plain icon"
          id="open-palette"
          title="Go to an object or a view, or run an action"
          aria-keyshortcuts="Control+K"
          @click=${() => actions.openPalette()}
        >
          Go to<kbd>Ctrl K</kbd>
        </button>
        <button class="plain icon theme" @click=${() => actions.theme()} aria-label="Light or dark">◐</button>
      </div>
    </header>
    ${signInNotice(state, actions)} ${lost(state, actions)} ${silentStore(state)} ${missingRows(state)}`;
}

function badges(id, state) {
  const parked = (state.queues ?? []).reduce((sum, { counts }) => sum + counts.parked, 0);
  const stuck = counted(state, 'blocked');
  const degraded = counted(state, 'degraded');
  if (id === 'rollouts')
    return html`${stuck > 0 ? html`<span class="badge">${stuck}<span> stuck</span></span>` : nothing}${
      degraded > 0 ? html`<span class="badge degraded">${degraded}<span> degraded</span></span>` : nothing
    }`;
  return id === 'queues' && parked > 0
    ? html`<span class="badge">${parked}<span> parked</span></span>`
    : nothing;
}

function counted({ deployments }, wanted) {
  let count = 0;
  for (const { state } of deployments.values()) if (state === wanted) count++;
  return count;
}

function onTabKey(event, state, actions) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const ids = tabsOf(state).map(([id]) => id);
  const next = ids[(ids.indexOf(state.tab) + step + ids.length) % ids.length];
  actions.tab(next);
  requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
}

function leaderFact(state) {
  const { cluster } = state;
  if (!cluster) return nothing;
  const part = cluster.lease ? leaseLeftMs(state) / cluster.lease.durationMs : 0;
  return html`<span class="fact ${cluster.leader ? '' : 'bad'}" id="leader"
    >${countdownRing(part)}<span
      >${cluster.leader ? html`<b>${cluster.leader}</b> leads` : 'no leader'}<small
        >epoch ${cluster.epoch} · ${replicaCount(cluster)}</small
      ></span
    ></span
  >`;
}

function replicaCount({ replicas }) {
  const count = replicas.filter(({ reachable }) => reachable).length;
  return count === 1 ? '1 replica' : `${count} replicas`;
}

function connection(state) {
  const store = state.connected ? state.cluster?.store : undefined;
  const isWell = state.connected && store?.answers !== false;
  const word =
    store?.answers === false ? `${nameOfStore(store)} silent` : state.connected ? 'live' : 'not connected';
  return html`<span class="fact live ${isWell ? 'on' : ''}"
    ><i class="lamp ${isWell ? 'on' : 'bad'}"></i><span class="live-word">${word}</span></span
  >`;
}

function nameOfStore({ name }) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The shared store does not answer, so most of what is below is outdated. */
function silentStore(state) {
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

/** With slots: replicas whose rollouts are not shown, because they do not answer the one that serves this page. */
function missingRows({ connected, missing }) {
  const { replicas, unowned } = missing ?? { replicas: [], unowned: 0 };
  if (!connected || (replicas.length === 0 && unowned === 0)) return nothing;
  return html`<div class="lost" role="status" id="missing-rows">
    <ul>
      ${replicas.map(
        ({ identity, problem, slots }) =>
          html`<li>
            <b>${identity} does not answer</b>, so the rollouts of ${ofSlots('its', slots)} are not shown:
            ${problem}.
          </li>`,
      )}
      ${
        unowned > 0
          ? html`<li>
              <b>No replica works on ${ofSlots('', unowned)}</b> at the moment, so their rollouts are not
              shown.
            </li>`
          : nothing
      }
    </ul>
  </div>`;
}

function ofSlots(whose, count) {
  return `${whose} ${count} ${count === 1 ? 'slot' : 'slots'}`.trim();
}

/** The replica that serves this page is gone: links to the others. */
function lost(state, actions) {
  if (state.gaveWay)
    return html`<p class="lost" role="alert">
      Many of these pages are open, so this one stopped. Click it to continue.
    </p>`;
  if (state.connected || state.failures < 2) return nothing;
  const others = (state.cluster?.replicas ?? []).filter(
    ({ adminUrl, identity }) => adminUrl && identity !== state.identity,
  );
  return html`<p class="lost" role="alert">
    ${state.refused ? 'Sign in to read this page.' : html`${state.identity || 'The replica'} does not answer; retrying.`}
    ${
      state.refused
        ? html`<button @click=${() => actions.askToken()}>Sign in</button>`
        : others.map(
            ({ adminUrl, identity }) =>
              html`<a href="${adminUrl}/console${location.search}${location.hash}"
                >Continue at ${identity}</a
              >`,
          )
    }
  </p>`;
}
