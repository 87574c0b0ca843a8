// The order of a trace's spans in a waterfall.

/**
 * Children under their parents; a span with an unknown parent is at the left. Each span comes once, also if a file has two of
 * one id, or spans that are parents of one another.
 * @param most the rest is left out
 */
export function nested(spans, most) {
  const byId = new Map();
  for (const span of spans) if (!byId.has(span.spanId)) byId.set(span.spanId, span);
  const children = Map.groupBy(spans, ({ parentId }) => byId.get(parentId));
  const rows = [];
  const seen = new Set();
  const walk = (first) => {
    const waiting = first.map((span) => ({ depth: 0, span })).reverse();
    while (waiting.length > 0 && rows.length < most) {
      const { depth, span } = waiting.pop();
      if (seen.has(span)) continue;
      seen.add(span);
      rows.push({ depth, span });
      const below = byId.get(span.spanId) === span ? (children.get(span) ?? []) : [];
      for (const child of below.toReversed()) waiting.push({ depth: depth + 1, span: child });
    }
  };
  walk(children.get(undefined) ?? []);
  // The others are below one another.
  for (const span of spans) if (!seen.has(span)) walk([span]);
  return rows;
}
