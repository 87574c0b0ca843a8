import { stringifyJson } from '../../base/kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import type { JsonObject } from './json-pointer.js';

export interface ObjectListMerge {
  /** The field that tells the items apart. */
  readonly key: string;
  /** `$setElementOrder`: items that carry nothing but the key. */
  readonly order?: readonly unknown[];
  readonly mergeItem: (into: JsonObject, from: JsonObject) => JsonObject;
  /** An item of the patch without its directives. */
  readonly plain: (item: JsonObject) => JsonObject;
}

/** Merges a list of objects by their merge key. */
export function mergeObjectList(
  original: readonly unknown[],
  patch: readonly unknown[],
  { key, order, mergeItem, plain }: ObjectListMerge,
): unknown[] {
  const items = checkedItems(patch, 'patch');
  const replaces = items.some((item) => item.$patch === 'replace');
  if (replaces) return items.filter((item) => item.$patch !== 'replace').map(plain);
  const keyed = new KeyedList(checkedItems(original, 'original'), key);
  for (const item of items) {
    const value = item[key];
    if (value === undefined)
      throw badRequest(`map: ${stringifyJson(item)} does not contain declared merge key: ${key}`);
    const existing = keyed.get(value);
    if (item.$patch === 'delete') keyed.remove(value);
    else keyed.put(value, existing ? mergeItem(existing, item) : plain(item));
  }
  const merged = keyed.items();
  if (!order) return merged;
  const keys = checkedItems(order, '$setElementOrder').map((item) => item[key]);
  return orderMerged(merged, checkedItems(original, 'original'), keys, (item) => item[key]);
}

/** A list whose items are found by their key, the first of several with the same. */
class KeyedList {
  private readonly list: (JsonObject | undefined)[];
  private readonly places = new Map<unknown, number>();

  constructor(items: readonly JsonObject[], key: string) {
    this.list = [...items];
    items.forEach((item, index) => {
      if (!this.places.has(item[key])) this.places.set(item[key], index);
    });
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

  remove(value: unknown): void {
    const place = this.places.get(value);
    if (place === undefined) return;
    this.list[place] = undefined;
    this.places.delete(value);
  }

  items(): JsonObject[] {
    return this.list.filter((item) => item !== undefined);
  }
}

function checkedItems(list: readonly unknown[], where: string): JsonObject[] {
  for (const item of list) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw badRequest(`expected a list of objects in the ${where}, got ${stringifyJson(item)}`);
    }
  }
  return list as JsonObject[];
}

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

interface ScalarListDirectives {
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
