// The consoles of other clusters: a menu that leads to each, and a page of what is wrong in all of them.
import { html, nothing } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { ago, chip, empty } from '/console/parts.js';

/** Sessions that other consoles have given to this tab, by the name of the cluster. They read problems there, and no more. */
const SESSIONS = 'rollkeeper-clusters';
/** The cluster that this tab has gone to for one. */
const PENDING = 'rollkeeper-hand-over';
const TICKET = /^#handed-over=(rkh1\.[\w-]+)$/;
const SHOWN = 20;
const HEALTH_WORDS = { well: 'works', ailing: 'is not ready', away: 'does not answer' };

const sessions = {
  get: () => JSON.parse(sessionStorage.getItem(SESSIONS) ?? '{}'),
  set: (name, session) =>
    sessionStorage.setItem(SESSIONS, JSON.stringify({ ...sessions.get(), [name]: session })),
};

/** Takes in what another console has sent this tab back with, if it has. The ticket is taken out of the address first. */
export async function takeOver({ set }) {
  const ticket = TICKET.exec(location.hash)?.[1];
  if (ticket === undefined) return;
  history.replaceState(undefined, '', `${location.pathname}#clusters`);
  const name = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  set({ tab: 'clusters' });
  if (!name) return set({ notSignedIn: 'this tab did not request another console' });
  try {
    const path = `/admin/clusters/${encodeURIComponent(name)}/session`;
    const headers = { 'X-Rollkeeper-Cluster-Ticket': ticket };
    const { answer, away, refused } = await call('GET', path, undefined, headers);
    if (answer) sessions.set(name, answer.session);
    else set({ notSignedIn: `${name}: ${refused ?? away}` });
  } catch (error) {
    set({ notSignedIn: error.message });
  }
}

/** In place of the title, where there are other clusters. */
export function clusterMenu(state, actions) {
  const clusters = state.clusters ?? [];
  if (clusters.length === 0) return html`<h1>Rollkeeper</h1>`;
  const here = clusters.find(({ isHere }) => isHere)?.name ?? 'Rollkeeper';
  const others = clusters.filter(({ isHere }) => !isHere);
  const ailing = others.filter(({ health }) => health !== 'well').length;
  return html`<h1 class="unseen">Rollkeeper, ${here}</h1>
    <div
      class="clusters-menu"
      @keydown=${(event) => {
        if (event.key !== 'Escape' || !state.clustersOpen) return;
        actions.set({ clustersOpen: false });
        document.getElementById('clusters-button')?.focus();
      }}
      @focusout=${(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) actions.set({ clustersOpen: false });
      }}
    >
      <button
        class="plain"
        id="clusters-button"
        aria-expanded=${state.clustersOpen === true}
        aria-controls="clusters-list"
        @click=${() => actions.set({ clustersOpen: !state.clustersOpen })}
      >
        <b>${here}</b
        >${ailing > 0 ? html`<span class="badge">${ailing}<span class="unseen"> other clusters do not work</span></span>` : nothing}
        <span aria-hidden="true">▾</span>
      </button>
      ${
        state.clustersOpen
          ? html`<ul id="clusters-list">
              ${others.map(
                (cluster) =>
                  html`<li>
                    <a href=${samePageAt(cluster)}>${lamp(cluster)}<b>${cluster.name}</b></a
                    ><span class="quiet">${HEALTH_WORDS[cluster.health]}</span>
                  </li>`,
              )}
              <li>
                <button class="plain" @click=${() => actions.tab('clusters')}>Problems in all</button>
              </li>
            </ul>`
          : nothing
      }
    </div>`;
}

/** The view that is open here, in the console of another cluster. */
function samePageAt({ url }) {
  return `${url}/console${location.search}${location.hash}`;
}

function lamp({ health }) {
  return html`<i class="lamp ${health === 'well' ? 'on' : health === 'ailing' ? 'standby' : 'bad'}"></i>`;
}

export function clustersView(state, actions) {
  const clusters = state.clusters ?? [];
  if (clusters.length === 0) return empty('No other clusters', 'Set them with --console-clusters.');
  return html`<section class="page clusters" aria-label="Clusters">
    <h2 class="unseen">Clusters</h2>
    <ul class="problem-list">
      ${clusters.map((cluster) => clusterCard(cluster, state, actions))}
    </ul>
  </section>`;
}

function clusterCard(cluster, state, actions) {
  const { health, isHere, name, why } = cluster;
  const read = state.clusterProblems[name];
  const isWell = health === 'well' && read?.problems?.length === 0;
  return html`<li class=${isWell ? 'healthy' : health === 'well' && !read?.problems ? 'deleting' : 'blocked'}>
    <header>
      ${lamp(cluster)}
      <h3>${isHere ? name : html`<a class="object-link" href="${cluster.url}/console">${name}</a>`}</h3>
      <span class="quiet">${isHere ? 'this console' : HEALTH_WORDS[health]}${why ? `: ${why}` : ''}</span>
    </header>
    ${read ? problemsOf(cluster, read, state, actions) : isHere || health === 'away' ? nothing : signInThere(cluster, actions)}
  </li>`;
}

function signInThere({ name }, actions, why = `${name} shows nothing here until you sign in there.`) {
  return html`<p class="sentence">${why}</p>
    <button @click=${() => actions.goForSession(name)}>Sign in at ${name}</button>`;
}

function problemsOf(cluster, { atMs, away, problems, refused }, state, actions) {
  if (refused !== undefined)
    return cluster.isHere ? html`<p class="sentence">${refused}</p>` : signInThere(cluster, actions, refused);
  if (away !== undefined) return html`<p class="sentence">No answer: ${away}</p>`;
  if (problems.length === 0)
    return html`<p class="sentence">No problems, checked ${ago(atMs, state.nowMs)} ago</p>`;
  return html`<p class="sentence">
      ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}, ${ago(atMs, state.nowMs)} ago
    </p>
    <ul class="cluster-problems">
      ${problems.slice(0, SHOWN).map(
        (problem) =>
          html`<li>
            ${chip(problem.state)} <span class="kind-word">${problem.kind}</span>
            <a class="object-link" href=${problemAt(cluster, problem)}
              >${problem.namespace ? `${problem.namespace}/` : ''}${problem.name}</a
            >
            <span>${problem.sentence}</span>
          </li>`,
      )}
    </ul>
    ${problems.length > SHOWN ? html`<p class="quiet">and ${problems.length - SHOWN} more</p>` : nothing}`;
}

function problemAt({ isHere, url }, { name, namespace }) {
  const words = namespace ? `${namespace}/${name}` : name;
  return `${isHere ? '' : url}/console?problem=${encodeURIComponent(words)}#problems`;
}

/** The question that another console has sent the person here with. */
export function handOverDialog(state, actions) {
  const { handOver, handOverProblem } = state;
  if (!handOver) return nothing;
  return html`<div class="veil">
    <section
      class="dialog"
      role="dialog"
      aria-modal="true"
      aria-labelledby="hand-over-title"
      @keydown=${(event) => actions.dialogKeys(event, () => actions.keepHere())}
    >
      <h2 id="hand-over-title">Show the problems of this cluster in another console?</h2>
      <p>
        <b>${handOver}</b> requests this. It will see the problems of this cluster
        ${state.who ? html`as <b>${state.who}</b>` : 'with your rights'}, and cannot change anything here.
      </p>
      ${handOverProblem ? html`<p class="error" role="alert">${handOverProblem}</p>` : nothing}
      <div class="buttons">
        <button id="hand-over" autofocus @click=${() => actions.giveSession()}>Show it there</button>
        <button class="plain" @click=${() => actions.keepHere()}>Stay here</button>
      </div>
    </section>
  </div>`;
}

/** @param page see `page` in console.js */
export function clusterActions(page) {
  const { amend, set, state, withToken } = page;
  let looking = false;
  const keep = (name, read) =>
    set({ clusterProblems: { ...state.clusterProblems, [name]: { ...read, atMs: state.nowMs } } });
  const readHere = async (name) => {
    try {
      keep(name, await call('GET', '/admin/problems'));
    } catch (error) {
      keep(name, { refused: error.message });
    }
  };
  const readThere = async (name) => {
    const session = sessions.get()[name];
    if (!session) return;
    const path = `/admin/clusters/${encodeURIComponent(name)}/problems`;
    const headers = { 'X-Rollkeeper-Cluster-Session': session };
    const read = await call('GET', path, undefined, headers).catch((error) => ({ away: error.message }));
    if (read.refused !== undefined) sessions.set(name, undefined);
    keep(name, read.answer ?? read);
  };
  const actions = {
    /** Learns of the others, and on their page what is wrong in each. */
    async lookAtClusters() {
      if (looking || document.hidden) return;
      looking = true;
      try {
        const { clusters } = await call('GET', '/admin/clusters').catch(() => ({}));
        if (clusters) set({ clusters });
        if (state.tab === 'clusters')
          await Promise.all(
            (clusters ?? []).map(({ isHere, name }) => (isHere ? readHere(name) : readThere(name))),
          );
      } finally {
        looking = false;
      }
    },
    /** Goes to another console, which sends this tab back with a ticket if the person says so. */
    goForSession(name) {
      const cluster = state.clusters.find((each) => each.name === name);
      if (!cluster) return;
      sessionStorage.setItem(PENDING, name);
      location.assign(`${cluster.url}/console?hand-over=${encodeURIComponent(location.origin)}#clusters`);
    },
    async giveSession() {
      const to = state.handOver;
      try {
        const { ticket } = await call('GET', `/admin/sign-in/hand-over?to=${encodeURIComponent(to)}`);
        amend({ handOver: undefined });
        // The server has named it as one of its own list.
        location.assign(`${new URL(to).origin}/console#handed-over=${ticket}`);
      } catch (error) {
        if (error.status === 401) return withToken(() => actions.giveSession());
        set({ handOverProblem: error.message });
      }
    },
    keepHere() {
      amend({ handOver: undefined, handOverProblem: undefined });
    },
  };
  return actions;
}
