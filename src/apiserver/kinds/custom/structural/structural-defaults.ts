import { cloneJson, ownField, setField, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../../schema/index.js';

type Fields = Record<string, unknown>;

/** Whether a schema has any defaults: otherwise objects need no traversal. */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.default !== undefined) return true;
  const below = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})];
  return below.some((part) => isSchema(part) && hasDefaults(part));
}

/**
 * Applies the defaults of a schema, and removes nulls of fields that are not nullable: such a null counts as absent.
 * Changes `value`. Source: `Default` and `PruneNonNullableNullsWithoutDefaults` in
 * apiextensions-apiserver/pkg/apiserver/schema/defaulting.
 */
export function applyStructuralDefaults(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    if (isSchema(schema.items)) for (const item of value) applyStructuralDefaults(item, schema.items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) fill(value, name, property);
  const { additionalProperties } = schema;
  for (const name in value) {
    const described =
      ownField(schema.properties, name) ??
      (isSchema(additionalProperties) ? additionalProperties : undefined);
    if (!described) continue;
    if (value[name] === null && !described.nullable) {
      if (described.default === undefined) {
        delete value[name];
        continue;
      }
      setField(value, name, cloneJson(described.default));
    }
    applyStructuralDefaults(value[name], described);
  }
}

function fill(fields: Fields, name: string, property: StructuralSchema): void {
  if (property.default === undefined || ownField(fields, name) !== undefined) return;
  setField(fields, name, cloneJson(property.default));
}

export function isSchema(value: unknown): value is StructuralSchema {
  return isJsonObject(value);
}
