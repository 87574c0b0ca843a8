import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { JSONSchemaProps } from '@rollkeeper/machinery/types/apiextensions-v1';
import { ownField } from '@rollkeeper/machinery/kubernetes';
import { PatternSyntaxError, linearPattern } from '../../schema/index.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../validation/field-errors.js';

type Schema = Decoded<JSONSchemaProps>;

/** The position of a part of the schema. */
interface Place {
  /** The schema of the whole object. */
  readonly isRoot: boolean;
  /** Below `allOf`, `anyOf`, `oneOf` or `not`: only judges what is described elsewhere. */
  readonly isJunctor: boolean;
  /** The object here is a whole resource of its own, with apiVersion, kind and metadata. */
  readonly isResource: boolean;
}

const ROOT: Place = { isRoot: true, isJunctor: false, isResource: true };
const INNER: Place = { isRoot: false, isJunctor: false, isResource: false };

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const FORBIDDEN = [
  'definitions',
  'dependencies',
  '$ref',
  'patternProperties',
  'additionalItems',
  'id',
  '$schema',
] as const;
/** Descriptive keywords, which are not allowed within logical ones. */
const DESCRIBING = [
  'description',
  'type',
  'default',
  'title',
  'nullable',
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;
const META = new Set(['name', 'generateName']);

/** Source: apiextensions-apiserver/pkg/apiserver/schema (validation.go, complete.go) and ValidateCustomResourceDefinitionOpenAPISchema. */
export function validateStructuralSchema(schema: Schema, path: string, errors: FieldError[]): void {
  validate(schema, path, ROOT, errors);
}

function validate(schema: Schema, path: string, place: Place, errors: FieldError[]): void {
  validateType(schema, path, place, errors);
  for (const field of FORBIDDEN)
    if (schema[field] !== undefined) errors.push(forbidden(`${path}.${field}`, `${field} is not supported`));
  if (schema.uniqueItems)
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (place.isJunctor)
    for (const field of DESCRIBING)
      if (schema[field] !== undefined)
        errors.push(forbidden(`${path}.${field}`, 'must be empty to be structural'));
  if (place.isRoot && schema.nullable)
    errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  validateObject(schema, path, place, errors);
  validateArray(schema, path, place, errors);
  validateJunctors(schema, path, place, errors);
  validateExtensions(schema, path, errors);
}

function validateType(
  schema: Schema,
  path: string,
  { isRoot, isJunctor }: Place,
  errors: FieldError[],
): void {
  const { type } = schema;
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] ?? schema['x-kubernetes-int-or-string'] ?? false;
  if (isJunctor) return;
  if (isRoot) {
    if (!type) errors.push(required(`${path}.type`, 'must not be empty at the root'));
    else if (type !== 'object') errors.push(invalid(`${path}.type`, type, 'must be object at the root'));
  } else if (!type && !isOpen)
    errors.push(required(`${path}.type`, 'must not be empty for specified object fields'));
  if (type && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
}

function validateObject(
  { properties, additionalProperties, ...schema }: Schema,
  path: string,
  place: Place,
  errors: FieldError[],
): void {
  if (properties && additionalProperties !== undefined && additionalProperties !== false)
    errors.push(
      forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  const isResource = place.isResource || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, property] of Object.entries(properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    const isMeta = isResource && !place.isJunctor && name === 'metadata';
    if (isMeta) validateMetadata(property, at, errors);
    validate(property, at, { ...INNER, isJunctor: place.isJunctor }, errors);
  }
  if (isSchema(additionalProperties)) {
    if (place.isRoot && !place.isJunctor)
      errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
    validate(
      additionalProperties,
      `${path}.additionalProperties`,
      { ...INNER, isJunctor: place.isJunctor },
      errors,
    );
  }
}

/** Names may be restricted, and nothing else of what the server keeps of every object. */
function validateMetadata({ properties, type }: Schema, path: string, errors: FieldError[]): void {
  if (type !== undefined && type !== 'object') errors.push(invalid(`${path}.type`, type, 'must be object'));
  for (const name of Object.keys(properties ?? {}))
    if (!META.has(name))
      errors.push(
        forbidden(
          path,
          'must not specify anything other than name and generateName, but metadata is implicitly specified',
        ),
      );
}

function validateArray({ items, type }: Schema, path: string, place: Place, errors: FieldError[]): void {
  if (Array.isArray(items)) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  } else if (isSchema(items)) {
    validate(items, `${path}.items`, { ...INNER, isJunctor: place.isJunctor }, errors);
  } else if (type === 'array' && !place.isJunctor)
    errors.push(required(`${path}.items`, 'must be specified'));
}

function validateJunctors(schema: Schema, path: string, place: Place, errors: FieldError[]): void {
  const inner: Place = { ...place, isJunctor: true };
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
    schema[name]?.forEach((part, index) => {
      // The one thing that may name types again: an integer or a string, the way it was written before.
      const { type: _type, ...rest } = part;
      validate(isIntOrString ? rest : part, `${path}.${name}[${index}]`, inner, errors);
    });
  if (schema.not) validate(schema.not, `${path}.not`, inner, errors);
}

const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];

function validateExtensions(schema: Schema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const mapType = schema['x-kubernetes-map-type'];
  if (listType !== undefined) {
    const field = `${path}.x-kubernetes-list-type`;
    if (!LIST_TYPES.includes(listType)) errors.push(notSupported(field, listType, LIST_TYPES));
    if (schema.type !== 'array')
      errors.push(
        invalid(`${path}.type`, schema.type ?? '', 'must be array if x-kubernetes-list-type is specified'),
      );
  }
  if (listType === 'map') {
    if (keys.length === 0)
      errors.push(
        required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'),
      );
    const items = schema.items;
    keys.forEach((key, index) => {
      const field = `${path}.x-kubernetes-list-map-keys[${index}]`;
      if (keys.indexOf(key) < index) errors.push(duplicate(field, key));
      if (isSchema(items) && !ownField(items.properties, key))
        errors.push(invalid(field, key, 'entries must all be names of item properties'));
    });
  } else if (keys.length > 0)
    errors.push(
      invalid(
        `${path}.x-kubernetes-list-type`,
        listType ?? '',
        'must be map if x-kubernetes-list-map-keys is non-empty',
      ),
    );
  if (mapType !== undefined && !MAP_TYPES.includes(mapType))
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, MAP_TYPES));
  if (schema['x-kubernetes-embedded-resource'] && schema.type !== 'object')
    errors.push(
      invalid(`${path}.type`, schema.type ?? '', 'must be object if x-kubernetes-embedded-resource is true'),
    );
  validatePattern(schema, path, errors);
}

function validatePattern({ pattern }: Schema, path: string, errors: FieldError[]): void {
  if (pattern === undefined) return;
  try {
    linearPattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    errors.push(
      invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${error.message}`),
    );
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
