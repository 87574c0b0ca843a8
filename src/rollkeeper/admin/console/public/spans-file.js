// The spans of a file, as OTLP/JSON: one document, or one for each line as collectors write them.

/** Larger files are not read, bytes. */
export const LARGEST_FILE = 64 * 1024 * 1024;

const FAILED = 2;

/**
 * The traces of a file, the earliest first, each with its spans as the console shows them.
 * @param text of the file
 * @throws Error if it is no OTLP/JSON
 */
export function tracesIn(text) {
  const byTrace = new Map();
  for (const document of documentsIn(text))
    for (const { resource, scopeSpans = [] } of document.resourceSpans ?? [])
      for (const { spans = [] } of scopeSpans)
        for (const span of spans) {
          const known = byTrace.get(span.traceId) ?? [];
          byTrace.set(span.traceId, known);
          known.push(shownSpan(span, replicaOf(resource)));
        }
  const traces = [...byTrace].map(([id, spans]) => traceOf(id, spans));
  return traces.toSorted((a, b) => a.startMs - b.startMs);
}

function documentsIn(text) {
  try {
    const whole = tryParse(text);
    const documents =
      whole === undefined
        ? text
            .split('\n')
            .filter((line) => line.trim() !== '')
            .map((line) => JSON.parse(line))
        : [whole];
    if (documents.some(({ resourceSpans }) => Array.isArray(resourceSpans))) return documents;
  } catch {
    // The same as one without spans.
  }
  throw new Error('This file has no spans. It must be OTLP/JSON, with the field resourceSpans.');
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
  const endMs = spans.reduce((last, span) => Math.max(last, span.startMs + span.durationMs), startMs);
  return {
    ...{ id, spans, startMs, durationMs: endMs - startMs },
    name: first.name,
    object: objectOf(first) ?? spans.map(objectOf).find((object) => object !== undefined) ?? '',
    failed: spans.some(({ failed }) => failed),
  };
}

function objectOf({ attributes }) {
  return attributes['k8s.object.key'] ?? attributes['rollkeeper.key'];
}

function shownSpan(span, replica) {
  const { endTimeUnixNano, events = [], name, parentSpanId, spanId, startTimeUnixNano, status = {} } = span;
  const startMs = millisecondsOf(startTimeUnixNano);
  return {
    ...{ spanId, name, replica, startMs },
    ...(parentSpanId ? { parentId: parentSpanId } : {}),
    durationMs: Math.max(millisecondsOf(endTimeUnixNano) - startMs, 0),
    failed: status.code === FAILED,
    ...(status.message ? { error: status.message } : {}),
    attributes: attributesOf(span.attributes),
    events: events.map((event) => ({
      name: event.name,
      atMs: millisecondsOf(event.timeUnixNano),
      attributes: attributesOf(event.attributes),
    })),
  };
}

/** A double has too few digits for nanoseconds since 1970. */
function millisecondsOf(nanoseconds = '0') {
  const whole = BigInt(nanoseconds);
  return Number(whole / 1_000_000n) + Number(whole % 1_000_000n) / 1e6;
}

function replicaOf({ attributes } = {}) {
  const known = attributesOf(attributes);
  return known['service.instance.id'] ?? known['service.name'] ?? '';
}

function attributesOf(attributes = []) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value = {}) {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
