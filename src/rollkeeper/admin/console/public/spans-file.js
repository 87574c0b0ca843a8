// The spans of a file, as OTLP/JSON: one document, or one for each line as collectors write them.

/** Larger files are not read, bytes. */
export const LARGEST_FILE = 64 * 1024 * 1024;

const FAILED = 2;
/** Longer texts are cut, characters. */
const LONGEST_TEXT = 1000;
/** Lists of values may be this deep in one another. */
const DEEPEST_LIST = 3;
/** Nanoseconds since 1970, as OTLP/JSON has them: an unsigned number of 64 bits. */
const NANOSECONDS = /^\d{1,20}$/;
const NO_SPANS = 'This file has no spans. It must be OTLP/JSON, with the field resourceSpans.';

/**
 * The traces of a file, the earliest first, each with its spans as the console shows them. All texts in them are strings, and
 * all numbers finite, also where the file has something else.
 * @param text of the file
 * @throws Error if it is no OTLP/JSON
 */
export function tracesIn(text) {
  try {
    return tracesOf(documentsIn(text));
  } catch {
    throw new Error(NO_SPANS);
  }
}

function tracesOf(documents) {
  if (!documents.some(({ resourceSpans }) => Array.isArray(resourceSpans))) throw new Error(NO_SPANS);
  const byTrace = new Map();
  for (const document of documents)
    for (const { resource, scopeSpans = [] } of document.resourceSpans ?? []) {
      const replica = replicaOf(resource);
      for (const { spans = [] } of scopeSpans)
        for (const span of spans) {
          const id = textOf(span.traceId);
          const known = byTrace.get(id) ?? [];
          byTrace.set(id, known);
          known.push(shownSpan(span, replica));
        }
    }
  const traces = [...byTrace].map(([id, spans]) => traceOf(id, spans));
  return traces.toSorted((a, b) => a.startMs - b.startMs);
}

function documentsIn(text) {
  const whole = tryParse(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => JSON.parse(line));
}

function tryParse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A trace with its first span, which tells what it is about. */
function traceOf(id, unordered) {
  const spans = unordered.toSorted((a, b) => a.startMs - b.startMs);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const first = spans.find(({ parentId }) => !ids.has(parentId)) ?? spans[0];
  const { startMs } = spans[0];
  const object = objectOf(first) ?? spans.map(objectOf).find((each) => each !== undefined) ?? '';
  const endMs = spans.reduce((last, span) => Math.max(last, span.startMs + span.durationMs), startMs);
  return {
    ...{ id, spans, startMs, durationMs: endMs - startMs },
    name: first.name,
    object,
    said: [first.name, object, ...new Set(spans.map(({ name }) => name))].join(' ').toLowerCase(),
    failed: spans.some(({ failed }) => failed),
  };
}

function objectOf({ attributes }) {
  const object = attributes['k8s.object.key'] ?? attributes['rollkeeper.key'];
  return object === undefined ? undefined : textOf(object);
}

function shownSpan(span, replica) {
  const { endTimeUnixNano, events = [], parentSpanId, startTimeUnixNano, status = {} } = span;
  const startMs = millisecondsOf(startTimeUnixNano);
  return {
    ...{ spanId: textOf(span.spanId), name: textOf(span.name), replica, startMs },
    ...(parentSpanId ? { parentId: textOf(parentSpanId) } : {}),
    durationMs: Math.max(millisecondsOf(endTimeUnixNano) - startMs, 0),
    failed: status.code === FAILED,
    ...(status.message ? { error: textOf(status.message) } : {}),
    attributes: attributesOf(span.attributes),
    events: events.map((event) => ({
      name: textOf(event.name),
      atMs: millisecondsOf(event.timeUnixNano),
      attributes: attributesOf(event.attributes),
    })),
  };
}

/** A double has too few digits for nanoseconds since 1970. */
function millisecondsOf(nanoseconds = '0') {
  const digits = textOf(nanoseconds);
  if (!NANOSECONDS.test(digits)) throw new Error(NO_SPANS);
  const whole = BigInt(digits);
  return Number(whole / 1_000_000n) + Number(whole % 1_000_000n) / 1e6;
}

function replicaOf({ attributes } = {}) {
  const known = attributesOf(attributes);
  return textOf(known['service.instance.id'] ?? known['service.name']);
}

/** Attributes whose name says that they are in milliseconds are numbers or left out. */
function attributesOf(attributes = []) {
  const known = attributes
    .map(({ key, value }) => [textOf(key), valueOf(value, DEEPEST_LIST)])
    .filter(([key, value]) => !key.endsWith('_ms') || typeof value === 'number');
  return Object.fromEntries(known);
}

function valueOf(value, deepest) {
  const { arrayValue, boolValue, doubleValue, intValue, stringValue } = value ?? {};
  if (arrayValue)
    return deepest > 0 ? (arrayValue.values ?? []).map((each) => valueOf(each, deepest - 1)) : undefined;
  if (intValue !== undefined || doubleValue !== undefined) return numberOf(intValue ?? doubleValue);
  if (stringValue !== undefined) return textOf(stringValue);
  return boolValue === undefined ? undefined : boolValue === true;
}

function numberOf(value) {
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Objects are no texts: a page that shows one may fail. */
function textOf(value) {
  return typeof value === 'string' || typeof value === 'number' ? `${value}`.slice(0, LONGEST_TEXT) : '';
}
