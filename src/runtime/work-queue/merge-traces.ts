/** Adds that became one run are remembered up to this many: a flood of changes must not grow what waits. */
export const MAX_TRACE_LINKS = 16;

/** Where an add comes from: W3C `traceparent`s. */
export interface AddTraces {
  /** The trace that the run goes on with. */
  readonly traceparent?: string;
  /** Traces of adds that became the same run, at most {@link MAX_TRACE_LINKS}. */
  readonly links?: readonly string[];
}

/**
 * The traces of adds that become one run: the first is the one to go on with, all others are linked, each once.
 * `lua/includes/merge-traces.lua` is the same for what Redis holds.
 */
export function mergeTraces(...adds: readonly AddTraces[]): AddTraces {
  const all = adds.flatMap(({ links = [], traceparent = '' }) => [traceparent, ...links]);
  const [traceparent, ...links] = new Set(all.filter((text) => text !== ''));
  if (traceparent === undefined) return {};
  return links.length === 0 ? { traceparent } : { traceparent, links: links.slice(0, MAX_TRACE_LINKS) };
}

/** As Redis holds them: one text, the trace to go on with first. */
export function traceTextOf({ links = [], traceparent }: AddTraces): string {
  return traceparent === undefined ? links.join(' ') : [traceparent, ...links].join(' ');
}

/** The inverse of {@link traceTextOf}. */
export function parseTraceText(text: string): AddTraces {
  return mergeTraces({ links: text.split(' ') });
}
