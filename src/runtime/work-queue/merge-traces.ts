/** Limit of remembered adds per run: a flood of changes must not grow the queue's state. */
export const MAX_TRACE_LINKS = 16;

/** The origin of an add: W3C `traceparent`s. */
export interface AddTraces {
  /** The trace that the run continues. */
  readonly traceparent?: string;
  /** Traces of other adds that became the same run, at most {@link MAX_TRACE_LINKS}. */
  readonly links?: readonly string[];
}

/**
 * Merges the traces of adds that become one run: the first is continued, all others are linked, each once.
 * `lua/includes/merge-traces.lua` does the same in Redis.
 */
export function mergeTraces(...adds: readonly AddTraces[]): AddTraces {
  const all = adds.flatMap(({ links = [], traceparent = '' }) => [traceparent, ...links]);
  const [traceparent, ...links] = new Set(all.filter((text) => text !== ''));
  if (traceparent === undefined) return {};
  return links.length === 0 ? { traceparent } : { traceparent, links: links.slice(0, MAX_TRACE_LINKS) };
}

/** The form in Redis: one text, the trace to continue first. */
export function traceTextOf({ links = [], traceparent }: AddTraces): string {
  return traceparent === undefined ? links.join(' ') : [traceparent, ...links].join(' ');
}

/** The inverse of {@link traceTextOf}. */
export function parseTraceText(text: string): AddTraces {
  return mergeTraces({ links: text.split(' ') });
}
