import { isJsonObject, ownField, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';
import type { FieldError } from '../../kind-definition.js';
import { duplicate, invalid } from '../../validation/field-errors.js';
import { keysOf } from './correlated-items.js';
import { isSchema } from './structural-defaults.js';

/**
 * Sets hold an item, and maps a key, once. Source: ValidateListSetsAndMaps in apiextensions-apiserver/pkg/apiserver/schema/listtype.
 * @param path of the value, empty for the whole object
 */
export function validateUnique(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    validateList(value, schema, path, errors);
    if (isSchema(items))
      value.forEach((item, index) => validateUnique(item, items, `${path}[${index}]`, errors));
  } else if (isJsonObject(value))
    for (const name in value) {
      const property = ownField(properties, name);
      if (property) validateUnique(value[name], property, path === '' ? name : `${path}.${name}`, errors);
      else if (isSchema(additionalProperties))
        validateUnique(value[name], additionalProperties, `${path}[${name}]`, errors);
    }
}

/** An item that is there more than twice is complained about once. */
function validateList(
  list: readonly unknown[],
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (listType === 'map') {
    const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
    if (wrong >= 0) {
      const detail = 'must be an object for an array of list-type map';
      errors.push(invalid(`${path}[${wrong}]`, list[wrong], detail));
      return;
    }
  }
  const times = new Map<string, number>();
  list.forEach((item, index) => {
    const identity = listType === 'set' ? item : keysOf(item, keys);
    const text = stringifyJson(identity);
    const before = times.get(text) ?? 0;
    if (before === 1) errors.push(duplicate(`${path}[${index}]`, identity));
    times.set(text, before + 1);
  });
}
