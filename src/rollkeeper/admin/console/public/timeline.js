// The time line of a rollout, which one can go back in: its sizes over time, what was asked, and how it ended.
import { html, nothing, svg } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { ago, clockTime, empty } from '/console/parts.js';
import { changeList } from '/console/rollout.js';
import {
  atOf,
  endOf,
  momentOf,
  revisionBefore,
  sizeSteps,
  stopsOf,
  whyNoChart,
  withSizesOfEvents,
} from '/console/timeline-at.js';

const SPANS = [
  ['1h', 'Hour'],
  ['24h', 'Day'],
  ['7d', 'Week'],
  ['', 'All'],
];
const GROUPS = [
  ['changes', 'Changes', ({ kind }) => kind !== 'sized' && kind !== 'event'],
  ['sizes', 'Sizes', ({ kind }) => kind === 'sized'],
  ['events', 'Events', ({ kind }) => kind === 'event'],
];
const CHART = { width: 1000, height: 150, base: 120 };
const LISTED = 200;

export function timelineSection(item, state, actions) {
  const { at, nowMs, timeline } = state;
  const seen = timeline?.key === item.key ? timeline : undefined;
  if (!seen) return html`<p class="quiet">Reading its timeline …</p>`;
  if (seen.problem) return html`<p class="error" role="alert">${seen.problem}</p>`;
  const { entries, keptFor, notes, span } = seen;
  const startMs = startOf(entries, span, nowMs);
  const atMs = at === undefined ? nowMs : Math.min(Math.max(Date.parse(at) || nowMs, startMs), nowMs);
  const hidden = new Set(state.timelineHides);
  const noChart = whyNoChart(entries, item.kind);
  const listed = entries.filter((entry) => !GROUPS.some(([id, , is]) => hidden.has(id) && is(entry)));
  return html`<section class="past" aria-label="Timeline">
    ${controls(seen, hidden, actions)}
    ${
      entries.length === 0
        ? empty('No data for this period', 'Try a longer one.')
        : html`${noChart ? html`<p class="quiet">${noChart}</p>` : chart(listed, entries, { startMs, nowMs, atMs, sizeNow: total(item) })}
          ${slider(entries, { startMs, nowMs, atMs }, at, actions)}
          ${momentCard(item, entries, atMs, at, nowMs)} ${entryList(listed, entries, atMs, state, actions)}`
    }
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)} ${keptLine(keptFor, item.kind)}
  </section>`;
}

function keptLine(keptFor, kind) {
  if (keptFor) return html`<p class="quiet">Its history is kept for ${keptFor}.</p>`;
  const older = 'What is older than its revisions and Events is not kept';
  // A history is recorded of Deployments alone.
  if (kind === 'StatefulSet' || kind === 'DaemonSet') return html`<p class="quiet">${older}.</p>`;
  return html`<p class="quiet">
    ${older}; the annotation <code>rollkeeper.dev/history: "14d"</code> asks for it.
  </p>`;
}

function startOf(entries, span, nowMs) {
  const spanMs = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 }[span];
  const firstMs = entries.length === 0 ? nowMs - 60_000 : atOf(entries[0]);
  // A young Deployment fills the whole width.
  return Math.min(Math.max(firstMs, spanMs === undefined ? 0 : nowMs - spanMs), nowMs - 1000);
}

function controls({ span }, hidden, actions) {
  return html`<div class="past-tools">
    <div class="filters" role="group" aria-label="How far back">
      ${SPANS.map(
        ([id, word]) =>
          html`<button aria-pressed=${id === span} @click=${() => actions.lookBack(id)}>${word}</button>`,
      )}
    </div>
    <div class="filters" role="group" aria-label="Shown entries">
      ${GROUPS.map(
        ([id, word]) =>
          html`<button aria-pressed=${!hidden.has(id)} @click=${() => actions.toggleTimeline(id)}>
            ${word}
          </button>`,
      )}
    </div>
  </div>`;
}

/** The sizes as a stepped area, entries as points below, and the moment as a line. */
function chart(listed, entries, { atMs, nowMs, sizeNow, startMs }) {
  const x = (ms) => (CHART.width * (Math.max(ms, startMs) - startMs)) / Math.max(nowMs - startMs, 1);
  // The current sizes are known better than from the last entry.
  const told = sizeSteps(entries);
  const steps = told.length === 0 ? [] : [...told, [nowMs, sizeNow]];
  const bands = entries.filter(({ kind, sizes }) => kind === 'summary' && sizes?.most !== undefined);
  const most = Math.max(1, ...steps.map(([, size]) => size), ...bands.map(({ sizes }) => sizes.most));
  const y = (size) => CHART.base - (size / most) * (CHART.base - 16);
  const points = steps.flatMap(([ms, size], index) => {
    const before = steps[index - 1]?.[1] ?? size;
    return [`${x(ms)},${y(before)}`, `${x(ms)},${y(size)}`];
  });
  const lastSize = steps.at(-1)?.[1];
  const line = lastSize === undefined ? '' : `${points.join(' ')} ${CHART.width},${y(lastSize)}`;
  const marks = listed.filter((entry) => endOf(entry) >= startMs);
  return html`<figure class="past-chart">
    <svg
      viewBox="0 0 ${CHART.width} ${CHART.height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Requested pods over time, at most ${most}; ${marks.length} entries below"
    >
      ${bands.map(
        (entry) =>
          svg`<rect class="band" x=${x(atOf(entry))} width=${Math.max(1, x(endOf(entry)) - x(atOf(entry)))} y=${y(entry.sizes.most)} height=${Math.max(2, y(entry.sizes.least ?? 0) - y(entry.sizes.most))}></rect>`,
      )}
      ${
        line === ''
          ? nothing
          : svg`<polygon points=${`${x(steps[0][0])},${CHART.base} ${line} ${CHART.width},${CHART.base}`}></polygon><polyline points=${line}></polyline>`
      }
      <line class="ground" x1="0" x2=${CHART.width} y1=${CHART.base} y2=${CHART.base}></line>
      ${marks.map(
        (entry) =>
          svg`<rect class="mark ${entry.kind} ${entry.result ?? ''}" x=${Math.min(x(atOf(entry)), CHART.width - 3)} y=${CHART.base + 6} width="3" height="18"><title>${entry.at} ${entry.what}</title></rect>`,
      )}
      <line class="moment" x1=${x(atMs)} x2=${x(atMs)} y1="0" y2=${CHART.height}></line>
    </svg>
    <figcaption>
      <span>${longTime(startMs)}</span><span>at most ${most} pods</span><span>now</span>
    </figcaption>
  </figure>`;
}

function slider(entries, { atMs, nowMs, startMs }, at, actions) {
  const stops = stopsOf(entries);
  const before = stops.findLast((ms) => ms < atMs - 1);
  const after = at === undefined ? undefined : stops.find((ms) => ms > atMs + 1);
  const step = (ms) => (ms === undefined ? nothing : () => actions.goTo(ms));
  return html`<div class="past-slider">
    <button class="plain" ?disabled=${before === undefined} @click=${step(before)}>‹ Before</button>
    <input
      type="range"
      id="moment"
      aria-label="Moment"
      aria-valuetext=${at === undefined ? 'now' : longTime(atMs)}
      min=${startMs}
      max=${nowMs}
      step="1"
      .value=${String(Math.round(atMs))}
      @input=${(event) => actions.goTo(Number(event.target.value) >= nowMs - 500 ? undefined : Number(event.target.value))}
    />
    <button class="plain" ?disabled=${after === undefined} @click=${step(after)}>After ›</button>
    <button ?disabled=${at === undefined} @click=${() => actions.goTo(undefined)}>Now</button>
  </div>`;
}

const total = ({ sets }) => sets.reduce((sum, { size }) => sum + size, 0);

/** The current state without the entries. */
function nowOf({ limits, sets, state }) {
  const sizes = sets.filter(({ size }) => size > 0).map(({ name, size }) => ({ replicaSet: name, size }));
  return { sizes, wanted: limits?.replicas, isPaused: state === 'paused' };
}

/** How it was at the moment. */
function momentCard(item, entries, atMs, at, nowMs) {
  const { by, isPaused, last, result, revision, sizes, wanted } = {
    ...momentOf(entries, atMs),
    ...(at === undefined && nowOf(item)),
  };
  const facts = [
    revision === undefined ? undefined : `revision ${revision}${by ? `, requested by ${by}` : ''}`,
    result === undefined
      ? revision === undefined
        ? undefined
        : 'in progress, or its end was not recorded'
      : result,
    wanted === undefined ? undefined : `${wanted} desired`,
    isPaused ? 'paused' : undefined,
  ].filter(Boolean);
  return html`<div class="past-moment" role="status">
    <h3>${at === undefined ? 'Now' : `${longTime(atMs)}, ${ago(atMs, nowMs)} ago`}</h3>
    <p>${facts.length === 0 ? 'No data for this moment.' : facts.join(' · ')}</p>
    ${sizes.length === 0 ? nothing : html`<p>${sizes.map(({ replicaSet, size }) => html`<span class="past-size"><b>${replicaSet}</b> ${size}</span>`)}</p>`}
    ${last ? html`<p class="quiet">Last entry before: ${last.what}</p>` : nothing}
  </div>`;
}

function entryList(listed, entries, atMs, state, actions) {
  const shown = listed.toReversed().slice(0, LISTED);
  return html`<ol class="timeline past-entries">
      ${shown.map((entry) => entryItem(entry, entries, atMs, state, actions))}
    </ol>
    ${listed.length > LISTED ? html`<p class="quiet">and ${listed.length - LISTED} before these</p>` : nothing}`;
}

function entryItem(entry, entries, atMs, { nowMs, timelineDiff }, actions) {
  const { by, kind, means, result, revision, sums, tookMs, until, what, why } = entry;
  const ms = atOf(entry);
  const from = revision === undefined ? undefined : revisionBefore(entries, entry);
  const isAsked = (kind === 'asked' || kind === 'change') && from !== undefined;
  const diff = timelineDiff?.at === entry.at && timelineDiff.revision === revision ? timelineDiff : undefined;
  const details = [
    by ? `by ${by}` : undefined,
    means,
    result,
    tookMs === undefined ? undefined : `took ${Math.max(1, Math.round(tookMs / 1000))} s`,
  ].filter(Boolean);
  return html`<li
    class="${kind} ${kind === 'failed' || result === 'failed' ? 'failed' : ''} ${ms > atMs ? 'later' : ''}"
  >
    <p class="when">
      <button class="plain link" @click=${() => actions.goTo(ms)}>
        <time title=${entry.at}>${longTime(ms)}${until ? ` … ${longTime(Date.parse(until))}` : ''}</time>
      </button>
      · ${ago(ms, nowMs)} ago${details.length > 0 ? ` · ${details.join(' · ')}` : ''}
    </p>
    <p>${revision === undefined ? nothing : html`<b>${revision}</b> `}${what}</p>
    ${why ? html`<p class="quiet">${why}</p>` : nothing}${sums && !what.includes(sums) ? html`<p class="quiet">${sums}</p>` : nothing}
    ${
      isAsked
        ? html`<button
            class="plain"
            aria-expanded=${diff !== undefined}
            @click=${() => actions.showDiff(diff ? undefined : { at: entry.at, from, revision })}
          >
            What changed since ${from}
          </button>`
        : nothing
    }
    ${diff ? (diff.problem ? html`<p class="error">${diff.problem}</p>` : changeList(diff.changes)) : nothing}
  </li>`;
}

const DAY_MS = 86_400_000;

/** With the date, unless it was less than a day ago. */
function longTime(ms) {
  const isToday = Math.abs(Date.now() - ms) < DAY_MS;
  return isToday
    ? clockTime(ms)
    : `${new Date(ms).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clockTime(ms)}`;
}

/** @param page see `page` in console.js */
export function timelineActions({ amend, go, set, state }) {
  let span = '';

  const readTimeline = async () => {
    const key = state.selected;
    if (state.tab !== 'rollouts' || state.look !== 'timeline' || !key || document.hidden) return;
    const [path, query = ''] = key.split('?');
    const search = new URLSearchParams(query);
    if (span) search.set('since', span);
    try {
      const answer = await call('GET', `/admin/rollouts/${path}/timeline?${search}`);
      const entries = withSizesOfEvents(answer.entries);
      if (state.selected === key) set({ timeline: { key, span, ...answer, entries } });
    } catch (error) {
      // Without an answer the last look stays.
      if (error.status && state.selected === key) set({ timeline: { key, span, problem: error.message } });
    }
  };

  return {
    readTimeline,
    /** The shown state of a rollout: how it is now, or how it was. */
    lookAt(look) {
      go({ look, at: undefined });
      void readTimeline();
    },
    lookBack(wanted) {
      span = wanted;
      void readTimeline();
    },
    /** @param ms undefined: now */
    goTo(ms) {
      amend({ at: ms === undefined ? undefined : new Date(Math.round(ms)).toISOString() });
    },
    toggleTimeline(group) {
      const hidden = state.timelineHides;
      set({
        timelineHides: hidden.includes(group) ? hidden.filter((each) => each !== group) : [...hidden, group],
      });
    },
    async showDiff(diff) {
      set({ timelineDiff: diff });
      if (!diff) return;
      const [path, query = ''] = state.selected.split('?');
      const search = new URLSearchParams(query);
      search.set('from', diff.from);
      search.set('revision', diff.revision);
      const answer = await call('GET', `/admin/rollouts/${path}/changes?${search}`).catch((error) => ({
        problem: error.message,
      }));
      if (state.timelineDiff === diff) set({ timelineDiff: { ...diff, ...answer } });
    },
  };
}
