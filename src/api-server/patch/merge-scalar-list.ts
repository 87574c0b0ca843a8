import { orderMerged } from './order-merged.js';

export interface ScalarListDirectives {
  /** `$setElementOrder` */
  readonly order?: readonly unknown[];
  /** `$deleteFromPrimitiveList` */
  readonly removed?: readonly unknown[];
}

/** Merges a list of scalars that is meant as a set, `metadata.finalizers` for one. */
export function mergeScalarList(
  original: readonly unknown[],
  patch: readonly unknown[],
  { order, removed = [] }: ScalarListDirectives,
): unknown[] {
  const merged = [...new Set([...without(original, removed), ...patch])];
  return order ? orderMerged(merged, original, order, (item) => item) : merged;
}

/** `list` without the items that `removed` names. */
export function without(list: readonly unknown[], removed: readonly unknown[]): unknown[] {
  const gone = new Set(removed);
  return list.filter((item) => !gone.has(item));
}
