import { ownField, sameJson } from '@rollkeeper/machinery/kubernetes';
import { PatternSyntaxError, linearPattern } from '../../schema/index.js';
import type { StructuralSchema } from '../../schema/index.js';
import { isSchema } from '../custom/structural/structural-defaults.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from '../validation/field-errors.js';

type Schema = StructuralSchema;
/** The position of a part of the schema: its words say what a missing type is missed for. */
type Level = 'root' | 'item' | 'field';

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];
const META = new Set(['name', 'generateName']);
/** The fields that a schema below a logical keyword cannot have, as `[field, detail]`. */
const DESCRIBING = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
] as const;

/**
 * Whether a schema is structural: every field is described outside of the logical keywords, and what is below these only judges. The
 * errors are in the order of their texts. Source: ValidateStructural in apiextensions-apiserver/pkg/apiserver/schema.
 */
export function validateStructuralSchema(schema: Schema, path: string, errors: FieldError[]): void {
  const found: FieldError[] = [];
  validateInvariants(schema, 'root', path, found);
  checkCompleteness(schema, path, found);
  const textOf = ({ field, message }: FieldError): string => `${field}: ${message}`;
  found.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  errors.push(...found);
}

function validateInvariants(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { items, properties = {}, additionalProperties, type = '' } = schema;
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  if (isSchema(items)) validateInvariants(items, 'item', `${path}.items`, errors);
  else if (type === 'array') errors.push(required(`${path}.items`, 'must be specified'));
  for (const [name, property] of Object.entries(properties))
    validateInvariants(property, 'field', `${path}.properties[${name}]`, errors);
  if (additionalProperties !== undefined) {
    const field = `${path}.additionalProperties`;
    if (level === 'root') errors.push(forbidden(field, 'must not be used at the root'));
    if (isSchema(additionalProperties)) validateInvariants(additionalProperties, 'field', field, errors);
    if (isResource)
      errors.push(forbidden(field, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  validateExtensions(schema, path, errors);
  validateValues(schema, path, errors, {
    skipAnyOf: isIntOrString(schema.anyOf),
    skipFirstAllOf: isIntOrString(schema.allOf?.[0]?.anyOf),
  });
  validateType(schema, level, path, errors);
  if (level === 'root' || isResource) validateIdentity(schema, path, errors);
  const metadata = ownField(properties, 'metadata');
  if (level === 'root' && metadata) validateRootMetadata(metadata, `${path}.properties[metadata]`, errors);
  if (isResource && !schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(properties).length === 0)
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
}

function isIntOrString(parts: readonly unknown[] | undefined): boolean {
  return sameJson(parts, INT_OR_STRING);
}

function validateExtensions(schema: Schema, path: string, errors: FieldError[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    if (schema[name])
      errors.push(invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
}

function validateType(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type = '' } = schema;
  const field = `${path}.type`;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(field, detail) : invalid(field, type, detail));
  } else if (
    type === '' &&
    !schema['x-kubernetes-int-or-string'] &&
    !schema['x-kubernetes-preserve-unknown-fields']
  )
    errors.push(required(field, MISSING_TYPE[level]));
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalid(field, type, 'must be object at the root'));
}

/** The types of what a resource has within another one, if they are given. */
function validateIdentity({ properties }: Schema, path: string, errors: FieldError[]): void {
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const property = ownField(properties, name);
    if (property && property.type !== type)
      errors.push(invalid(`${path}.properties[${name}].type`, property.type ?? '', `must be ${type}`));
  }
}

/** Names may be restricted, and nothing else of what the server keeps of every object. */
function validateRootMetadata(metadata: Schema, path: string, errors: FieldError[]): void {
  const { type: _type, default: _default, properties = {}, ...rest } = metadata;
  if (Object.keys(properties).every((name) => META.has(name)) && Object.keys(rest).length === 0) return;
  errors.push(
    forbidden(
      path,
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    ),
  );
}

/** The places at which types may be named again: an integer or a string, the way it was written before. */
interface Skipped {
  readonly skipAnyOf: boolean;
  readonly skipFirstAllOf: boolean;
}

const NOTHING_SKIPPED: Skipped = { skipAnyOf: false, skipFirstAllOf: false };

function validateValues(schema: Schema, path: string, errors: FieldError[], skipped: Skipped): void {
  const { allOf, anyOf, oneOf, not, pattern } = schema;
  if (!skipped.skipAnyOf)
    anyOf?.forEach((part, index) => validateNested(part, `${path}.anyOf[${index}]`, errors));
  allOf?.forEach((part, index) =>
    validateNested(part, `${path}.allOf[${index}]`, errors, {
      ...NOTHING_SKIPPED,
      skipAnyOf: skipped.skipFirstAllOf && index === 0,
    }),
  );
  oneOf?.forEach((part, index) => validateNested(part, `${path}.oneOf[${index}]`, errors));
  if (not) validateNested(not, `${path}.not`, errors);
  if (pattern) validatePattern(pattern, path, errors);
}

/** Validates the schemas below a logical keyword. */
function validateNested(schema: Schema, path: string, errors: FieldError[], skipped = NOTHING_SKIPPED): void {
  validateValues(schema, path, errors, skipped);
  const { items, properties = {}, additionalProperties = false } = schema;
  if (isSchema(items)) validateNested(items, `${path}.items`, errors);
  for (const [name, property] of Object.entries(properties))
    validateNested(property, `${path}.properties[${name}]`, errors);
  if (additionalProperties !== false)
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'));
  for (const [field, detail] of DESCRIBING)
    if (isSaid(schema[field])) errors.push(forbidden(`${path}.${field}`, detail));
  if (ownField(properties, 'metadata'))
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
}

function isSaid(value: unknown): boolean {
  return (
    value !== undefined && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0)
  );
}

function validatePattern(pattern: string, path: string, errors: FieldError[]): void {
  try {
    linearPattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    errors.push(
      invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${error.message}`),
    );
  }
}

/** A schema that describes values, and the one below a logical keyword that judges them. */
interface Pair {
  readonly described: StructuralSchema | undefined;
  readonly path: string;
  readonly judging: StructuralSchema;
  readonly judgingPath: string;
}

/**
 * Validates that everything that is judged below a logical keyword is described outside of it. Source:
 * validateStructuralCompleteness in apiextensions-apiserver/pkg/apiserver/schema/complete.go.
 */
function checkCompleteness(schema: StructuralSchema, path: string, errors: FieldError[]): void {
  checkJunctors({ described: schema, path, judging: schema, judgingPath: path }, errors);
}

function checkJunctors(pair: Pair, errors: FieldError[]): void {
  const { not, ...lists } = pair.judging;
  const below = (judging: StructuralSchema, step: string): void =>
    checkNested({ ...pair, judging, judgingPath: `${pair.judgingPath}.${step}` }, errors);
  if (not) below(not, 'not');
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
    lists[name]?.forEach((part, index) => below(part, `${name}[${index}]`));
}

function checkNested(pair: Pair, errors: FieldError[]): void {
  const { described, path, judging, judgingPath } = pair;
  if (!described) {
    errors.push(required(path, `because it is defined in ${judgingPath}`));
    return;
  }
  checkJunctors(pair, errors);
  const below = (part: StructuralSchema, inner: unknown, step: string): void =>
    checkNested(
      {
        described: isSchema(inner) ? inner : undefined,
        path: `${path}.${step}`,
        judging: part,
        judgingPath: `${judgingPath}.${step}`,
      },
      errors,
    );
  if (isSchema(judging.items)) below(judging.items, described.items, 'items');
  for (const [name, property] of Object.entries(judging.properties ?? {}))
    below(property, ownField(described.properties, name), `properties[${name}]`);
}
