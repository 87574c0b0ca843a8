import type { StructuralSchema } from '../../schema/index.js';
import { isSchema } from '../custom/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { validateIdentities, validateSet } from './list-and-map-types.js';
import type { Tolerance } from './list-and-map-types.js';

const STRICT: Tolerance = { types: false, sets: false, keys: false };
const TYPES = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);

/**
 * What the schemas before an update broke.
 * Source: requireValidPropertyType, requireAtomicSetType and requireMapListKeysMapSetValidation.
 */
export function toleranceOf(schemas: readonly StructuralSchema[]): Tolerance {
  if (schemas.length === 0) return STRICT;
  const some = (isBroken: (schema: StructuralSchema) => boolean): boolean =>
    schemas.some((schema) => someSchema(schema, isBroken));
  return {
    types: some(({ type }) => type !== undefined && type !== '' && !TYPES.has(type)),
    sets: some((schema) => schema['x-kubernetes-list-type'] === 'set' && finds(validateSet, schema)),
    keys: some((schema) => finds(validateIdentities, schema)),
  };
}

function finds(
  validate: (schema: StructuralSchema, path: string, errors: FieldError[]) => void,
  schema: StructuralSchema,
): boolean {
  const errors: FieldError[] = [];
  validate(schema, '', errors);
  return errors.length > 0;
}

/** Whether a schema, or any below it, is so. */
function someSchema(schema: StructuralSchema, isSo: (schema: StructuralSchema) => boolean): boolean {
  if (isSo(schema)) return true;
  const { not, items, additionalProperties, properties = {}, allOf = [], anyOf = [], oneOf = [] } = schema;
  const parts = [
    not,
    items,
    additionalProperties,
    ...Object.values(properties),
    ...allOf,
    ...anyOf,
    ...oneOf,
  ];
  return parts.some((part) => isSchema(part) && someSchema(part, isSo));
}
