import { isJsonObject, isList, ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';

/** Only the items of a map list have an identity: the item with the same keys is the old one. */
export function correlatedItems(old: unknown, schema: StructuralSchema): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !isList(old)) return () => undefined;
  const known = new Map(old.map((item) => [stringifyJson(keysOf(item, keys)), item]));
  return (item) => known.get(stringifyJson(keysOf(item, keys)));
}

/** The values that distinguish the items of a map list. */
export function keysOf(item: unknown, keys: readonly string[]): Record<string, unknown> {
  const fields = isJsonObject(item) ? item : {};
  return Object.fromEntries([...keys].sort().map((key) => [key, ownField(fields, key)]));
}
