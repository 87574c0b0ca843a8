// A trace as a waterfall, from the change to the pods.
import { html, nothing } from '/console/lit-html.js';
import { call } from '/console/feed.js';
import { nested } from '/console/nested-spans.js';

/** More spans of one trace are not drawn. */
const MOST_DRAWN = 2000;
/** So many events of one span are marks and words. */
const MOST_EVENTS = 200;

const TOLD = [
  'rollkeeper.controller',
  'rollkeeper.key',
  'k8s.event',
  'k8s.object.key',
  'rollkeeper.priority',
  'rollkeeper.outcome',
  'rollkeeper.why',
  'k8s.resource',
  'http.response.status_code',
];

export function traceDialog({ shownTrace }, actions) {
  if (!shownTrace) return nothing;
  const { id, spans } = shownTrace;
  const startMs = spans.reduce((first, span) => Math.min(first, span.startMs), Infinity);
  const endMs = spans.reduce((last, span) => Math.max(last, span.startMs + span.durationMs), -Infinity);
  const whole = Math.max(endMs - startMs, 1);
  return html`<div
    class="veil"
    @click=${(event) => event.target === event.currentTarget && actions.showTrace(undefined)}
  >
    <div
      class="dialog wide"
      role="dialog"
      aria-modal="true"
      aria-labelledby="trace-title"
      @keydown=${(event) => actions.dialogKeys(event, () => actions.showTrace(undefined))}
    >
      <div class="head">
        <h2 id="trace-title">From the change to the pods</h2>
        <button class="plain" id="close-trace" @click=${() => actions.showTrace(undefined)}>Close</button>
      </div>
      <p class="quiet">
        trace
        <code>${id}</code>${spans.length > 0 ? html` · ${spans.length} spans · ${duration(whole)}` : nothing}
      </p>
      ${
        spans.length === 0
          ? html`<p>No replica has its spans. The last 1000 traces are kept.</p>`
          : html`<ol class="waterfall">
                ${nested(spans, MOST_DRAWN).map(({ depth, span }) => row(span, depth, startMs, whole))}
              </ol>
              ${
                spans.length > MOST_DRAWN
                  ? html`<p class="quiet">The first ${MOST_DRAWN} spans are shown.</p>`
                  : nothing
              }`
      }
    </div>
  </div>`;
}

function row(span, depth, startMs, whole) {
  const left = (100 * (span.startMs - startMs)) / whole;
  const width = Math.max(0.4, (100 * span.durationMs) / whole);
  const events = (span.events ?? []).slice(0, MOST_EVENTS);
  const told = TOLD.map((name) => span.attributes[name]).filter((value) => value !== undefined);
  const happened = [span.error, changeText(span.attributes), ...eventTexts(events)]
    .filter(Boolean)
    .join(' · ');
  return html`<li class=${span.failed ? 'failed' : ''}>
    <span class="span-name" .style=${indent(depth)} title=${told.join(' · ')}
      ><b>${span.name}</b> <span class="quiet">${span.replica}</span></span
    >
    <span class="span-track"
      >${waitOf(span, startMs, whole)}<i
        .style=${`left:${Math.min(left, 99.6)}%;width:${Math.min(width, 100 - left)}%`}
      ></i
      >${events.filter(eventText).map((event) => mark(event, startMs, whole))}</span
    >
    <span class="span-time">${duration(span.durationMs)}</span>
    ${happened === '' ? nothing : html`<span class="span-told" .style=${indent(depth)}>${happened}</span>`}
  </li>`;
}

function indent(depth) {
  return `padding-left:${Math.min(depth, 8) * 14}px`;
}

/** The meaning of a `change seen` span. */
function changeText(attributes) {
  const event = attributes['k8s.event'];
  if (event === undefined) return '';
  const merged = attributes['rollkeeper.merged'] ?? 0;
  const more = merged === 0 ? '' : `, and ${merged} more ${merged === 1 ? 'change' : 'changes'}`;
  return `${event} ${attributes['k8s.kind']} ${attributes['k8s.object.key']}${more}`;
}

/** A short wait in the queue has no span: it is the pale bar before the sync. */
function waitOf({ attributes, name, startMs }, traceStartMs, whole) {
  const waitMs = Math.min(attributes['rollkeeper.queue.wait_ms'] ?? 0, startMs - traceStartMs);
  if (waitMs <= 0 || !name.startsWith('sync ')) return nothing;
  const left = (100 * (startMs - waitMs - traceStartMs)) / whole;
  return html`<i
    class="waited"
    title=${`${duration(waitMs)} in the queue`}
    .style=${`left:${left}%;width:${(100 * waitMs) / whole}%`}
  ></i>`;
}

/** A write, an event of its sync, is a thin line of its duration. Other events are marks at their moment. */
function mark(event, traceStartMs, whole) {
  const tookMs = event.attributes['rollkeeper.took_ms'];
  const left = (100 * (event.atMs - (tookMs ?? 0) - traceStartMs)) / whole;
  const at = `left:${Math.max(0, Math.min(left, 99.6))}%`;
  const object = event.attributes['k8s.object.key'];
  return html`<i
    class=${tookMs === undefined ? 'event' : 'write'}
    aria-hidden="true"
    title=${object === undefined ? eventText(event) : `${eventText(event)}: ${object}`}
    .style=${tookMs === undefined ? at : `${at};width:${(100 * tookMs) / whole}%`}
  ></i>`;
}

/** Events in words: similar writes combined; no reads, and no errors, which the span shows. */
function eventTexts(events) {
  const alike = Map.groupBy(events, ({ name }) => name);
  return [...alike.values()].flatMap((group) => {
    const took = group.map(({ attributes }) => attributes['rollkeeper.took_ms']);
    if (group.length === 1 || took.includes(undefined)) return group.map(eventText);
    return [`${group.length} × ${group[0].name} (at most ${duration(Math.max(...took))})`];
  });
}

function eventText({ attributes, name }) {
  if (name === 'read caches' || name === 'exception') return '';
  if (name === 'decided') return attributes['rollkeeper.decision.summary'];
  const tookMs = attributes['rollkeeper.took_ms'];
  return tookMs === undefined ? name : `${name} (${duration(tookMs)})`;
}

/** A length of time for people. */
export function duration(ms) {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  return ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** @param page see `page` in console.js */
export function traceActions({ close, focusSoon, open, set, state }) {
  return {
    async showTrace(id) {
      if (!id) {
        const { isOfFile } = state.shownTrace ?? {};
        close({ shownTrace: undefined, trace: undefined });
        // The list of its file is below it.
        if (isOfFile) focusSoon('#find-trace');
        return;
      }
      open({ trace: id });
      const spans = await call('GET', `/admin/traces/${id}`).catch(() => []);
      if (state.trace !== id) return;
      set({ shownTrace: { id, spans } });
      focusSoon('#close-trace');
    },
  };
}
