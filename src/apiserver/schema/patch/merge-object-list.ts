import { goTypeOf, goValue, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { unexpected, unprocessable } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import type { JsonObject } from './json-pointer.js';

interface ObjectListMerge {
  /** The field that distinguishes the items. */
  readonly key: string;
  /** `$setElementOrder`: items that carry nothing but the key. */
  readonly order?: readonly unknown[];
  readonly mergeItem: (into: JsonObject, from: JsonObject) => JsonObject;
  /** An item of the patch without its directives. */
  readonly plain: (item: JsonObject) => JsonObject;
}

/**
 * Merges a list of objects by their merge key. An item that deletes removes all items with its key. An item that replaces
 * leaves only the items of the patch without a directive.
 * Source: `mergeSliceWithSpecialElements` in k/k staging/src/k8s.io/apimachinery/pkg/util/strategicpatch.
 */
export function mergeObjectList(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  { key, order, mergeItem, plain }: ObjectListMerge,
): unknown[] {
  for (const item of patch) checkDirective(item, key);
  const items = patch.filter((item) => item.$patch === undefined);
  for (const item of items) keyIn(item, key);
  if (items.length < patch.length && patch.some((item) => item.$patch === 'replace')) return items.map(plain);
  const keyed = new KeyedList(original, key);
  keyed.remove(new Set(patch.filter(({ $patch }) => $patch === 'delete').map((item) => item[key])));
  for (const item of items) {
    const existing = keyed.get(item[key]);
    keyed.put(item[key], existing ? mergeItem(existing, item) : plain(item));
  }
  const merged = keyed.items();
  for (const item of merged) keyIn(item, key);
  // Without an order of its own, the patch has that of its items: what is new comes before what only the server has.
  const keys = (order ?? items).map((item) => keyIn(item, key));
  // The genuine merge writes into the list that it takes the former order from, so that what was added has the place of what was
  // deleted in it.
  const formerOrder = merged.slice(0, original.length).map((item) => item[key]);
  return orderMerged(merged, formerOrder, keys, (item) => item[key]);
}

/** @throws StatusError 500, as the genuine server */
function checkDirective(item: JsonObject, key: string): void {
  const { $patch } = item;
  if ($patch === undefined || $patch === 'replace') return;
  if ($patch === 'merge') throw unexpected('merging lists cannot yet be specified in the patch');
  if ($patch !== 'delete') throw unknownDirective($patch, item);
  keyIn(item, key);
}

export function unknownDirective(directive: unknown, map: JsonObject): StatusError {
  return unexpected(`unknown patch type: ${goValue(directive)} in map: ${goValue(map)}`);
}

/** The key of an item. @throws StatusError 500, as the genuine server, for what has none */
export function keyIn(item: unknown, key: string): unknown {
  if (!isJsonObject(item)) throw badType(OBJECT, item);
  if (item[key] === undefined)
    throw unexpected(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
  return item[key];
}

export const OBJECT = 'map[string]interface {}';
export const LIST = '[]interface {}';

/** A value is not of the type that a merge needs. */
export function badType(expected: string, value: unknown): StatusError {
  const found = value === null ? '%!s(<nil>)' : goTypeOf(value);
  return unexpected(`expected a ${expected}, but received a ${found}`);
}

/**
 * The type that all elements of some lists have, as Go calls it.
 * @throws StatusError 500, as the genuine server, where they have none or several, or are lists
 */
export function elementType(lists: readonly (readonly unknown[])[]): string {
  const types = new Set(lists.flat(1).map(goTypeOf));
  const [type] = types;
  if (type === undefined) throw unexpected('no elements in any of the given slices');
  if (type === LIST) throw unprocessable(new Error('lists of lists are not supported'));
  if (types.size > 1) throw unexpected(`list element types are not identical: ${goValue(lists)}`);
  return type;
}

/** A list whose items are found by their key, the first of several with the same. */
class KeyedList {
  private list: JsonObject[];
  private places: Map<unknown, number>;

  constructor(
    items: readonly JsonObject[],
    private readonly key: string,
  ) {
    this.list = [...items];
    this.places = this.indexed();
  }

  get(value: unknown): JsonObject | undefined {
    const place = this.places.get(value);
    return place === undefined ? undefined : this.list[place];
  }

  /** In the place of the item with that key, or at the end. */
  put(value: unknown, item: JsonObject): void {
    const place = this.places.get(value) ?? this.list.length;
    this.places.set(value, place);
    this.list[place] = item;
  }

  /** All that have one of the keys. */
  remove(values: ReadonlySet<unknown>): void {
    if (values.size === 0) return;
    this.list = this.list.filter((item) => !values.has(item[this.key]));
    this.places = this.indexed();
  }

  items(): JsonObject[] {
    return [...this.list];
  }

  private indexed(): Map<unknown, number> {
    return firstPlaces(this.list.map((item) => item[this.key]));
  }
}

/**
 * The items of a patch have to be in the order that the patch itself says.
 * @throws StatusError 500, as the genuine server
 */
export function checkOrder(
  patch: readonly unknown[],
  order: readonly unknown[],
  key: string | undefined,
): void {
  if (order.length === 0 || patch.length === 0) return;
  const keyOf = (item: unknown): unknown => (key === undefined ? item : keyIn(item, key));
  const kept = patch.filter((item) => !isJsonObject(item) || item.$patch === undefined);
  let next = 0;
  for (const ordered of order) if (next < kept.length && keyOf(kept[next]) === keyOf(ordered)) next++;
  if (next < kept.length)
    throw unexpected(
      `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
    );
}

/**
 * Puts a merged list in order: the items that the patch's order names, in that order, those of one key together where it names the
 * key first; items that only the server has stay behind the neighbour that they had before.
 * Source: `normalizeElementOrder` and `mergeSortedSlice`, as above.
 */
export function orderMerged<Item>(
  merged: readonly Item[],
  formerOrder: readonly unknown[],
  order: readonly unknown[],
  keyOf: (item: Item) => unknown,
): Item[] {
  const rank = firstPlaces(order);
  const placeBefore = firstPlaces(formerOrder);
  const named = merged
    .filter((item) => rank.has(keyOf(item)))
    .sort((a, b) => rank.get(keyOf(a))! - rank.get(keyOf(b))!);
  const others = merged.filter((item) => !rank.has(keyOf(item)));
  const stoodBefore = (other: Item, item: Item): boolean =>
    (placeBefore.get(keyOf(other)) ?? Infinity) < (placeBefore.get(keyOf(item)) ?? -1);
  const result: Item[] = [];
  let next = 0;
  for (const item of named) {
    while (next < others.length && stoodBefore(others[next]!, item)) result.push(others[next++]!);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** Returns the first place of each key. */
function firstPlaces(keys: readonly unknown[]): Map<unknown, number> {
  return new Map(keys.map((key, index) => [key, index] as const).reverse());
}

/** Merges a list of scalars that is meant as a set, `metadata.finalizers` for one. */
export function mergeScalarList(
  original: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[] = patch,
): unknown[] {
  return orderMerged([...new Set([...original, ...patch])], original, order, (item) => item);
}

/** `list` without the items that `removed` names. */
export function without(list: readonly unknown[], removed: readonly unknown[]): unknown[] {
  const gone = new Set(removed);
  return list.filter((item) => !gone.has(item));
}
