/**
 * Parses a list of completion indexes, `1,3-5,7`. Stops at a malformed part: the rest is unknown.
 * @param completions indexes from this on are ignored
 */
export function parseIndexes(text: string, completions: number): Set<number> {
  const indexes = new Set<number>();
  if (text === '') return indexes;
  for (const part of text.split(',')) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!range) break;
    const last = Math.min(Number(range[2] ?? range[1]), completions - 1);
    for (let index = Number(range[1]); index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Formats them in order; three or more consecutive ones as a range. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const ranges: { first: number; last: number }[] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const before = ranges.at(-1);
    if (before?.last === index - 1) before.last = index;
    else ranges.push({ first: index, last: index });
  }
  return ranges.map(({ first, last }) => rangeText(first, last)).join(',');
}

function rangeText(first: number, last: number): string {
  if (first === last) return String(first);
  return `${first}${last === first + 1 ? ',' : '-'}${last}`;
}
