import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { StructuralSchema } from '../../schema/index.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

/** Rules that came after definitions which break them: such a definition may be updated as it is. */
export interface Tolerance {
  /** Types that are none. */
  readonly types: boolean;
  /** Sets of objects or lists that are not atomic. */
  readonly sets: boolean;
  /** Lists whose items may lack an identity. */
  readonly keys: boolean;
}

const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];

/**
 * Validates the fields by which a schema says how its lists and maps are merged. Source:
 * ValidateCustomResourceDefinitionOpenAPISchema.
 */
export function validateListsAndMaps(
  schema: StructuralSchema,
  path: string,
  tolerance: Tolerance,
  errors: FieldError[],
): void {
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined) {
    if (schema.type !== 'object') errors.push(wrongType(schema, path, 'object', 'x-kubernetes-map-type'));
    if (!MAP_TYPES.includes(mapType))
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES));
  }
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== undefined) {
    if (schema.type !== 'array') errors.push(wrongType(schema, path, 'array', 'x-kubernetes-list-type'));
    else if (listType === 'set' && !tolerance.sets) validateSet(schema, path, errors);
    if (!LIST_TYPES.includes(listType))
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, LIST_TYPES));
  }
  validateKeys(schema, path, errors);
  if (listType === 'map') validateMapItems(schema, path, errors);
  if (!tolerance.keys) validateIdentities(schema, path, errors);
}

function wrongType({ type }: StructuralSchema, path: string, wanted: string, because: string): FieldError {
  const detail = `must be ${wanted} if ${because} is specified`;
  return type ? invalid(`${path}.type`, type, detail) : required(`${path}.type`, detail);
}

/** The items of a set are compared as a whole. */
export function validateSet({ items }: StructuralSchema, path: string, errors: FieldError[]): void {
  if (!isSchema(items)) return;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    errors.push(invalid(`${path}.items.x-kubernetes-list-type`, listType, detail));
  // The value is the type of the list here, too.
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    errors.push(invalid(`${path}.items.x-kubernetes-map-type`, listType, detail));
}

function validateKeys(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  if ((schema['x-kubernetes-list-map-keys'] ?? []).length === 0) return;
  const listType = schema['x-kubernetes-list-type'];
  const field = `${path}.x-kubernetes-list-type`;
  const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
  if (listType === undefined) errors.push(required(field, detail));
  else if (listType !== 'map') errors.push(invalid(field, listType, detail));
}

function validateMapItems(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(field, 'must not be empty if x-kubernetes-list-type is map'));
  const { items } = schema;
  if (items === undefined) {
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
    return;
  }
  if (!isSchema(items)) {
    const shown = internalForm('apiextensions.JSONSchemaPropsOrArray', items);
    errors.push(
      invalid(`${path}.items`, shown, 'must only have a single schema if x-kubernetes-list-type is map'),
    );
    return;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.items.type`, items.type ?? '', detail));
    return;
  }
  const repeated = repeatedPlaces(keys);
  keys.forEach((key, index) => {
    const property = ownField(items.properties, key);
    if (!property) errors.push(invalid(field, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (repeated.has(index)) errors.push(invalid(field, keys, 'must not contain duplicate entries'));
  });
}

/** Each item of a set or a map has an identity. Source: validateMapListKeysMapSet. */
export function validateIdentities(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  const { items } = schema;
  if (!isSchema(items) || (listType !== 'set' && listType !== 'map')) return;
  if (items.nullable)
    errors.push(
      forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  if (listType === 'set') return;
  const isRequired = new Set(items.required);
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = ownField(items.properties, key);
    if (!property) continue;
    const field = `${path}.items.properties[${key}]`;
    const because = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!isRequired.has(key) && property.default === undefined)
      errors.push(required(`${field}.default`, `${because} must have a default or be a required property`));
    if (property.nullable) errors.push(forbidden(`${field}.nullable`, `${because} cannot be nullable`));
  }
}
