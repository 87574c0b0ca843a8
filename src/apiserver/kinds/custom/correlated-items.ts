import { ownField, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate } from '../validation/field-errors.js';

/** Only the items of a map list have an identity: the item with the same keys is the old one. */
export function correlatedItems(old: unknown, schema: StructuralSchema): (item: unknown) => unknown {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(old)) return () => undefined;
  const known = new Map(old.map((item) => [stringifyJson(keysOf(item, keys)), item as unknown]));
  return (item) => known.get(stringifyJson(keysOf(item, keys)));
}

/** Sets hold an item, and maps a key, once. Source: ValidateListSetsAndMaps in apiextensions-apiserver. */
export function validateUnique(
  list: readonly unknown[],
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const identity = listType === 'set' ? item : keysOf(item, keys);
    const text = stringifyJson(identity);
    if (seen.has(text)) errors.push(duplicate(`${path}[${index}]`, identity));
    seen.add(text);
  });
}

function keysOf(item: unknown, keys: readonly string[]): Record<string, unknown> {
  const fields = isJsonObject(item) ? item : {};
  return Object.fromEntries([...keys].sort().map((key) => [key, ownField(fields, key)]));
}
