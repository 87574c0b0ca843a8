import { stringifyJson } from '../../kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import type { JsonObject } from './json-object.js';
import { orderMerged } from './order-merged.js';

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
  const merged = [...checkedItems(original, 'original')];
  for (const item of items) {
    const value = item[key];
    if (value === undefined)
      throw badRequest(`map: ${stringifyJson(item)} does not contain declared merge key: ${key}`);
    const at = merged.findIndex((existing) => existing[key] === value);
    if (item.$patch === 'delete') {
      if (at >= 0) merged.splice(at, 1);
    } else if (at < 0) merged.push(plain(item));
    else merged[at] = mergeItem(merged[at]!, item);
  }
  if (!order) return merged;
  const keys = checkedItems(order, '$setElementOrder').map((item) => item[key]);
  return orderMerged(merged, checkedItems(original, 'original'), keys, (item) => item[key]);
}

function checkedItems(list: readonly unknown[], where: string): JsonObject[] {
  for (const item of list) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      throw badRequest(`expected a list of objects in the ${where}, got ${stringifyJson(item)}`);
    }
  }
  return list as JsonObject[];
}
