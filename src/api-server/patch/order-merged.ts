/**
 * Puts a merged list in order: the items that the patch's order names, in that order; items that only the server
 * has stay behind the neighbour that they had before.
 */
export function orderMerged<Item>(
  merged: readonly Item[],
  original: readonly Item[],
  order: readonly unknown[],
  keyOf: (item: Item) => unknown,
): Item[] {
  const rank = new Map(order.map((key, index) => [key, index]));
  const named = merged
    .filter((item) => rank.has(keyOf(item)))
    .sort((a, b) => rank.get(keyOf(a))! - rank.get(keyOf(b))!);
  const placeBefore = new Map(original.map((item, index) => [keyOf(item), index]));
  const place = (item: Item): number => placeBefore.get(keyOf(item)) ?? -1;
  const result: Item[] = [];
  const others = merged.filter((item) => !rank.has(keyOf(item)));
  let next = 0;
  for (const item of named) {
    while (next < others.length && place(others[next]!) < place(item)) result.push(others[next++]!);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}
