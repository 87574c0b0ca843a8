// The list of Deployments: only visible rows are rendered, so that a thousand scroll as smoothly as ten.
import { html, nothing } from '/console/lit-html.js';
import { repeat } from '/console/directives/repeat.js';
import { fits, parseFind } from '/console/find.js';
import { findRelease, releasesOf, shownReleases } from '/console/releases.js';
import { STATES, chip, empty, isWaitingFor, miniBar, nameOf } from '/console/parts.js';

const ROW = 74;
const SPARE_ROWS = 6;

const isWaiting = ({ cause }) => isWaitingFor(cause);

export const FILTERS = [
  ['all', 'All', () => true],
  ['moving', 'Moving', ({ state }) => state === 'progressing' || state === 'deleting'],
  ['waiting', 'Waiting', isWaiting],
  ['stuck', 'Stuck', ({ state }) => state === 'blocked'],
  ['degraded', 'Degraded', ({ state }) => state === 'degraded'],
  ['paused', 'Paused', ({ state }) => state === 'paused'],
  ['settled', 'Settled', ({ state }) => state === 'complete' || state === 'scaled-to-zero'],
];

let listed;
/**
 * Moving and stuck ones first, then by name; of those that wait, the ones that wait for the same are together. Worked out once for each
 * change: the page is drawn ten times a second, and there may be thousands.
 */
export function visible({ changes, deployments, filter, search }) {
  const isKnown = listed?.changes === changes && listed.filter === filter && listed.search === search;
  if (!isKnown) listed = { changes, filter, search, items: inOrder(deployments, filter, parseFind(search)) };
  return listed.items;
}

function inOrder(deployments, filter, terms) {
  const [, , passes] = FILTERS.find(([id]) => id === filter) ?? FILTERS[0];
  const found = (item) => terms.length === 0 || fits({ ...item, stateWord: STATES[item.state].word }, terms);
  return [...deployments.values()]
    .filter((item) => passes(item) && found(item))
    .sort(
      (a, b) =>
        (filter === 'waiting'
          ? waitOf(a).localeCompare(waitOf(b))
          : STATES[a.state].rank - STATES[b.state].rank) || (a.key < b.key ? -1 : 1),
    );
}

let counted;
/** How many each filter shows, by its name; once for each change as well. */
function countsOf({ changes, deployments }) {
  if (counted?.changes === changes) return counted.counts;
  const counts = Object.fromEntries(FILTERS.map(([id]) => [id, 0]));
  for (const item of deployments.values())
    for (const [id, , passes] of FILTERS) if (passes(item)) counts[id]++;
  counted = { changes, counts };
  return counts;
}

const waitOf = (item) => `${item.cause} ${shortly(item)}`;

export function rolloutList(state, actions) {
  const items = visible(state);
  const counts = countsOf(state);
  const height = state.viewport || 800;
  const first = Math.max(0, Math.floor(state.scrollTop / ROW) - SPARE_ROWS);
  const last = Math.min(items.length, Math.ceil((state.scrollTop + height) / ROW) + SPARE_ROWS);
  const selected = items.findIndex(({ key }) => key === state.selected);
  return html`<section class="list" aria-label="Deployments">
    <div class="list-tools">
      <input
        type="search"
        id="find"
        placeholder="Name, image:…, node:…, label:…"
        title="All words must match, anywhere or as name: ns: image: label: owner: node: release: state: – a word after a minus must not match"
        aria-label="Find a Deployment: words anywhere, or name:, ns:, image:, label:, owner:, node:, release:, state:"
        .value=${state.search}
        @input=${(event) => actions.amend({ search: event.target.value, scrollTop: 0 })}
      />
      <div class="filters" role="group" aria-label="Show">
        ${FILTERS.map(
          ([id, word]) =>
            html`<button
              aria-pressed=${state.filter === id}
              class=${id}
              @click=${() => actions.amend({ filter: id, scrollTop: 0 })}
            >
              ${word} <span>${counts[id]}</span>
            </button>`,
        )}
      </div>
    </div>
    ${releaseRows(state, actions)}
    <div
      class="scroller"
      id="rows"
      role=${items.length > 0 ? 'listbox' : 'region'}
      aria-label="${items.length} ${items.length === 1 ? 'Deployment' : 'Deployments'}"
      aria-activedescendant=${selected >= first && selected < last ? `row-${selected}` : nothing}
      tabindex="0"
      @scroll=${(event) => actions.set({ scrollTop: event.target.scrollTop })}
      @keydown=${(event) => onKey(event, state, actions)}
    >
      <div class="spacer" .style=${`height:${items.length * ROW}px`}>
        ${repeat(
          items.slice(first, last),
          ({ key }) => key,
          (item, index) => row(item, first + index, items.length, state, actions),
        )}
      </div>
      ${
        items.length === 0
          ? empty(
              state.deployments.size === 0
                ? state.listed
                  ? 'No Deployments yet'
                  : 'Reading …'
                : 'No matches',
              state.deployments.size === 0
                ? 'kubectl create deployment nginx --image=nginx:1.27 --replicas=3'
                : 'Try another word, or show all.',
            )
          : nothing
      }
    </div>
  </section>`;
}

const isSettled = (state) => state === 'complete' || state === 'scaled-to-zero';

let grouped;
/** Worked out once for each change, like the list. */
function releasesNow({ changes, deployments }) {
  if (grouped?.changes !== changes) {
    const releases = releasesOf(deployments.values(), (word) => STATES[word].rank, isSettled);
    grouped = { changes, ...shownReleases(releases) };
  }
  return grouped;
}

/** A row for each release, which shows its Deployments when it is chosen. */
function releaseRows(state, actions) {
  const { more, rows } = releasesNow(state);
  if (rows.length === 0) return nothing;
  return html`<div class="releases" role="group" aria-label="Releases">
    ${repeat(
      rows,
      ({ id }) => id,
      (release) => {
        const search = findRelease(release);
        const isChosen = state.search === search;
        return html`<button
          aria-pressed=${isChosen}
          title="Show the Deployments of this release"
          @click=${() => actions.amend({ search: isChosen ? '' : search, filter: 'all', scrollTop: 0 })}
        >
          <span class="name"><span class="ns">${release.namespace}/</span>${release.name}</span>
          <span class="release-count">${release.settled} of ${release.count} settled</span>
          ${chip(release.state, release.cause)}
        </button>`;
      },
    )}
    ${more > 0 ? html`<p>and ${more} more, which <code>release:NAME</code> finds</p>` : nothing}
  </div>`;
}

function row(item, index, count, state, actions) {
  const [namespace, name] = nameOf(item);
  return html`<div
    class="row ${item.state}"
    id="row-${index}"
    role="option"
    aria-selected=${item.key === state.selected}
    aria-posinset=${index + 1}
    aria-setsize=${count}
    .style=${`transform:translateY(${index * ROW}px)`}
    @click=${() => actions.select(item.key)}
  >
    <div class="row-head">
      <span class="name"
        ><span class="ns">${namespace}/</span>${name}${
          item.kind ? html`<span class="kind">${item.kind}</span>` : nothing
        }</span
      >
      ${chip(item.state, item.cause)}
    </div>
    ${miniBar(item)}
    <div class="row-say">${shortly(item)}</div>
  </div>`;
}

/** The chip shows the state already; of one that is stuck or waits, the cause matters. */
function shortly(item) {
  const { sentence, state } = item;
  const hasCause = state === 'blocked' || state === 'degraded' || isWaiting(item);
  const cause = hasCause ? sentence.indexOf('; ') + 2 : 0;
  return sentence.slice(cause > 1 ? cause : sentence.indexOf(': ') + 2);
}

/** Keys can come sooner than the next frame is drawn: they move from what is selected now, not from what is seen. */
function onKey(event, state, actions) {
  const items = visible(state);
  const selected = items.findIndex(({ key }) => key === state.selected);
  if (event.key === 'Enter' && selected >= 0) return actions.select(items[selected].key);
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW) - 1);
  const moves = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -items.length,
    End: items.length,
  };
  const move = moves[event.key];
  if (move === undefined || items.length === 0) return;
  event.preventDefault();
  const next = Math.max(0, Math.min(items.length - 1, selected + move));
  actions.select(items[next].key, true);
  const list = event.currentTarget;
  if (next * ROW < list.scrollTop) list.scrollTop = next * ROW;
  if ((next + 1) * ROW > list.scrollTop + list.clientHeight)
    list.scrollTop = (next + 1) * ROW - list.clientHeight;
}
