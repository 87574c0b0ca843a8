import { ownField, sameJson, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { linearPattern } from '../../schema/index.js';
import type { StructuralSchema } from '../../schema/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required, tooLong, tooMany } from '../validation/field-errors.js';
import { hasFormat } from './formats.js';
import { correlatedItems, validateUnique } from './correlated-items.js';
import { isSchema } from './structural-defaults.js';

/**
 * Judges a value by a structural schema, in the words of the genuine server.
 * Source: kube-openapi/pkg/validation (validator.go, errors/schema.go), ValidateCustomResource and
 * ValidateListSetsAndMaps in apiextensions-apiserver.
 * @param path of the value, empty for the whole object
 * @param old what stood there before an update, when it can be told: what has not changed is not judged again
 */
export function validateStructural(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  old?: unknown,
): void {
  if (old !== undefined && sameJson(old, value)) return;
  if (value === null && schema.nullable) return;
  if (!hasType(value, schema)) {
    errors.push(wrongType(value, schema, path));
    return;
  }
  validateEnum(value, schema, path, errors);
  if (typeof value === 'string') validateString(value, schema, path, errors);
  else if (typeof value === 'number' || typeof value === 'bigint')
    validateNumber(value, schema, path, errors);
  else if (Array.isArray(value)) validateList(value, schema, path, errors, old);
  else if (isJsonObject(value)) validateFields(value, schema, path, errors, old);
  validateJunctors(value, schema, path, errors);
}

function hasType(value: unknown, schema: StructuralSchema): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || isInteger(value);
  switch (schema.type) {
    case undefined:
    case '':
      return true;
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return isInteger(value);
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint';
    default:
      return typeof value === schema.type;
  }
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function wrongType(value: unknown, schema: StructuralSchema, path: string): FieldError {
  const found = jsonType(value);
  const wanted = schema['x-kubernetes-int-or-string'] ? 'integer,string' : (schema.type ?? '');
  const message = `${named(path)} must be of type ${wanted}: ${JSON.stringify(found)}`;
  return { ...invalid(path || '<nil>', found, message), type: 'FieldValueTypeInvalid' };
}

function jsonType(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isInteger(value)) return 'integer';
  return typeof value;
}

/** How messages name a place: `spec.replicas in body`. */
function named(path: string): string {
  return `${path} in body`;
}

function validateEnum(value: unknown, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const allowed = schema.enum as readonly unknown[] | undefined;
  if (!allowed || allowed.length === 0 || allowed.some((word) => sameJson(word, value))) return;
  const words = allowed.map((word) => (typeof word === 'string' ? word : stringifyJson(word)));
  errors.push(notSupported(path || '<nil>', value, words));
}

function validateString(value: string, schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const { maxLength, minLength, pattern, format } = schema;
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  // Only the first of these is said.
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(path, maxLength));
  else if (minLength !== undefined && length < minLength)
    errors.push(invalid(path, value, `${named(path)} should be at least ${minLength} chars long`));
  else if (pattern && !linearPattern(pattern).test(value))
    errors.push(invalid(path, value, `${named(path)} should match '${pattern}'`));
  if (format && !hasFormat(value, format)) {
    const message = `${named(path)} must be of type ${format}: ${JSON.stringify(value)}`;
    errors.push({ ...invalid(path, value, message), type: 'FieldValueTypeInvalid' });
  }
}

function validateNumber(
  value: number | bigint,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const { maximum, minimum, multipleOf } = schema;
  const complain = (problem: string): void =>
    void errors.push(invalid(path, value, `${named(path)} should be ${problem}`));
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    complain(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    complain(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  if (multipleOf && !Number.isInteger(Number(value) / multipleOf)) complain(`a multiple of ${multipleOf}`);
}

function validateList(
  list: readonly unknown[],
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  old: unknown,
): void {
  const { maxItems, minItems, items } = schema;
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  if (minItems !== undefined && list.length < minItems)
    errors.push(invalid(path, list.length, `${named(path)} should have at least ${minItems} items`));
  if (isSchema(items)) {
    const before = correlatedItems(old, schema);
    list.forEach((item, index) => validateStructural(item, items, `${path}[${index}]`, errors, before(item)));
  }
  validateUnique(list, schema, path, errors);
}

function validateFields(
  fields: Readonly<Record<string, unknown>>,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  old: unknown,
): void {
  const { properties, additionalProperties, maxProperties, minProperties } = schema;
  const before = isJsonObject(old) ? old : undefined;
  for (const name of schema.required ?? [])
    if (ownField(fields, name) === undefined) errors.push(required(below(path, name)));
  if (schema['x-kubernetes-embedded-resource'])
    for (const name of ['apiVersion', 'kind'])
      if (!ownField(fields, name)) errors.push(required(below(path, name), 'must not be empty'));
  for (const name in fields) {
    const property =
      ownField(properties, name) ?? (isSchema(additionalProperties) ? additionalProperties : undefined);
    if (property)
      validateStructural(fields[name], property, below(path, name), errors, before && ownField(before, name));
  }
  const count = maxProperties === undefined && minProperties === undefined ? 0 : Object.keys(fields).length;
  if (maxProperties !== undefined && count > maxProperties) errors.push(tooMany(path, count, maxProperties));
  if (minProperties !== undefined && count < minProperties)
    errors.push(invalid(path, count, `${named(path)} should have at least ${minProperties} properties`));
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function validateJunctors(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
): void {
  const { allOf, anyOf, oneOf, not } = schema;
  if (!allOf && !anyOf && !oneOf && !not) return;
  // The genuine server names neither the field nor the value of these, but in the text.
  const complain = (problem: string): void =>
    void errors.push(invalid('<nil>', '', `${JSON.stringify(path)} ${problem}`));
  const check = (part: StructuralSchema): FieldError[] => {
    const found: FieldError[] = [];
    validateStructural(value, part, path, found);
    return found;
  };
  if (anyOf && !anyOf.some((part) => check(part).length === 0))
    complain('must validate at least one schema (anyOf)');
  if (oneOf) {
    const valid = oneOf.filter((part) => check(part).length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      complain(`must validate one and only one schema (oneOf). ${found}`);
    }
  }
  if (allOf) {
    const found = allOf.flatMap(check);
    errors.push(...found);
    if (found.length > 0) complain('must validate all the schemas (allOf)');
  }
  if (not && check(not).length === 0) complain('must not validate the schema (not)');
}
