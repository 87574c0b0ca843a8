import { ownField, sameJson, stringifyJson, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { linearPattern } from '../../../schema/index.js';
import type { StructuralSchema } from '../../../schema/index.js';
import type { FieldError } from '../../kind-definition.js';
import { invalid, notSupported, required, tooLong, tooMany } from '../../validation/field-errors.js';
import { correlatedItems } from './correlated-items.js';
import { hasFormat, isSupportedFormat } from './formats.js';
import { rangeProblem } from './number-ranges.js';
import { isSchema } from './structural-defaults.js';

/** The faults that were found in a value. */
class Findings {
  /** Enough to read: a value can have one for each of its items. */
  private static readonly MAX = 1_000;
  readonly errors: FieldError[] = [];
  /** Checks that the value passed: of several alternatives, the best one counts. */
  matches = 0;

  add(error: FieldError): void {
    if (this.errors.length < Findings.MAX) this.errors.push(error);
  }

  merge({ errors, matches }: Findings): void {
    this.matches += matches;
    const keyOf = ({ field, message }: FieldError): string => `${field}\n${message}`;
    const known = new Set(this.errors.map(keyOf));
    for (const error of errors) {
      if (!known.has(keyOf(error))) this.add(error);
      known.add(keyOf(error));
    }
  }
}

interface Place {
  readonly path: string;
  /** The value before an update, if it is known. */
  readonly old?: unknown;
}

/**
 * Judges a value by a structural schema, in the words of the genuine server.
 * Source: kube-openapi/pkg/validation (schema.go, errors/schema.go) and ValidateCustomResource in apiextensions-apiserver.
 * @param path of the value, empty for the whole object
 * @param old the value before an update, if it is known: what has not changed is not judged again
 */
export function validateStructural(
  value: unknown,
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  old?: unknown,
): void {
  const found = new Findings();
  judge(value, schema, { path, old }, found);
  errors.push(...found.errors);
}

function judge(value: unknown, schema: StructuralSchema, place: Place, found: Findings): void {
  if (place.old !== undefined && sameJson(place.old, value)) return;
  judgeChanged(value, schema, place, found);
}

function judgeChanged(value: unknown, schema: StructuralSchema, place: Place, found: Findings): void {
  judgeType(value, schema, place, found);
  if (value === null) {
    judgeEnum(value, schema, place, found);
    return;
  }
  found.matches += 2;
  judgeJunctors(value, schema, place, found);
  if (typeof value === 'string') judgeText(value, schema, place, found);
  else if (isNumber(value)) judgeNumber(value, schema, place, found);
  else if (Array.isArray(value)) judgeList(value, schema, place, found);
  found.matches++;
  judgeEnum(value, schema, place, found);
  if (isJsonObject(value)) judgeFields(value, schema, place, found);
}

/** The format of a schema, if the server knows it. */
function formatOf({ format = '', type = '' }: StructuralSchema): string {
  return format !== '' && isSupportedFormat(format, type) ? format : '';
}

function judgeType(value: unknown, schema: StructuralSchema, { path }: Place, found: Findings): void {
  const types = schema['x-kubernetes-int-or-string']
    ? ['integer', 'string']
    : schema.type
      ? [schema.type]
      : [];
  const format = formatOf(schema);
  if (types.length === 0 && format === '') return;
  const isNull = value === null || value === undefined;
  if (value !== null) found.matches++;
  const complain = (wanted: string, was: string): void => {
    const message = `${named(path)} must be of type ${wanted}: ${JSON.stringify(was)}`;
    found.add({ ...invalid(path || '<nil>', was, message), type: 'FieldValueTypeInvalid' });
  };
  if (isNull) {
    if (types.length > 0 && !schema.nullable) complain(types.join(','), 'null');
    else found.matches++;
    return;
  }
  const type = jsonType(value);
  const isListOrText = typeof value === 'string' || Array.isArray(value);
  const fits =
    types.includes(type) ||
    (type === 'integer' && types.includes('number')) ||
    (type === 'number' && types.includes('integer') && Number.isSafeInteger(value));
  const valueFormat = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '';
  if (!isListOrText && format !== '' && !fits && valueFormat !== format) complain(format, valueFormat);
  else if (isListOrText && format !== '' && !types.includes('number') && !types.includes('integer'))
    found.matches++;
  else if (fits) found.matches++;
  else complain(types.join(','), type);
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (Number.isSafeInteger(value)) return 'integer';
  // A number that does not fit an int64 is a float64 in Go.
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? 'integer' : 'number';
  return typeof value;
}

/** How messages name a place: `spec.replicas in body`. */
function named(path: string): string {
  return `${path} in body`;
}

function judgeEnum(value: unknown, schema: StructuralSchema, { path }: Place, found: Findings): void {
  const allowed: readonly unknown[] | undefined = schema.enum;
  if (!allowed || allowed.length === 0 || allowed.some((word) => word !== null && sameJson(word, value)))
    return;
  const words = allowed.map((word) => (typeof word === 'string' ? word : stringifyJson(word)));
  found.add(notSupported(path || '<nil>', value, words));
}

/** The first thing that is wrong with its length or form, and its format. */
function judgeText(value: string, schema: StructuralSchema, { path }: Place, found: Findings): void {
  const { maxLength, minLength, pattern } = schema;
  const at = path || '<nil>';
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  found.matches++;
  if (maxLength !== undefined && length > maxLength) found.add(tooLong(at, maxLength));
  else if (minLength !== undefined && length < minLength)
    found.add(invalid(at, value, `${named(path)} should be at least ${minLength} chars long`));
  else if (pattern && !linearPattern(pattern).test(value))
    found.add(invalid(at, value, `${named(path)} should match '${pattern}'`));
  const format = formatOf(schema);
  if (format === '') return;
  found.matches++;
  if (hasFormat(value, format)) return;
  const message = `${named(path)} must be of type ${format}: ${JSON.stringify(value)}`;
  found.add({ ...invalid(at, value, message), type: 'FieldValueTypeInvalid' });
}

function judgeNumber(
  value: number | bigint,
  schema: StructuralSchema,
  { path }: Place,
  found: Findings,
): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  const complain = (problem: string): void =>
    void found.add(invalid(path || '<nil>', value, `${named(path)} should be ${problem}`));
  const isInRange = (checked: number | bigint, what: string): boolean => {
    const problem = rangeProblem(checked, schema, what, path);
    if (problem !== undefined) found.add(invalid('<nil>', '', problem));
    return problem === undefined;
  };
  found.matches += 2;
  isInRange(value, 'Checked');
  // An integer is compared with the integer part, as Go converts it.
  const bound = (limit: number, what: string): number =>
    isInRange(limit, what) && jsonType(value) === 'integer' ? Math.trunc(limit) : limit;
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf, 'MultipleOf');
    if (factor <= 0)
      found.add(
        invalid(
          path || '<nil>',
          factor,
          `factor MultipleOf declared for ${path} must be positive: ${factor}`,
        ),
      );
    else if (!Number.isInteger(factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor))
      complain(`a multiple of ${factor}`);
  }
  if (maximum !== undefined) {
    const limit = bound(maximum, 'Maximum boundary');
    if (exclusiveMaximum ? value >= limit : value > limit)
      complain(`less than ${exclusiveMaximum ? '' : 'or equal to '}${limit}`);
  }
  if (minimum !== undefined) {
    const limit = bound(minimum, 'Minimum boundary');
    if (exclusiveMinimum ? value <= limit : value < limit)
      complain(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${limit}`);
  }
}

function judgeList(list: readonly unknown[], schema: StructuralSchema, place: Place, found: Findings): void {
  const { maxItems, minItems, items } = schema;
  const { path, old } = place;
  const at = path || '<nil>';
  found.matches += 2;
  if (isSchema(items)) {
    const before = correlatedItems(old, schema);
    list.forEach((item, index) =>
      judge(item, items, { path: `${path}[${index}]`, old: before(item) }, found),
    );
  }
  if (minItems !== undefined && list.length < minItems)
    found.add(invalid(at, list.length, `${named(path)} should have at least ${minItems} items`));
  if (maxItems !== undefined && list.length > maxItems) found.add(tooMany(at, list.length, maxItems));
}

function judgeFields(
  fields: Readonly<Record<string, unknown>>,
  schema: StructuralSchema,
  { path, old }: Place,
  found: Findings,
): void {
  const { properties = {}, additionalProperties, maxProperties, minProperties } = schema;
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  const before = isJsonObject(old) && !isAtomic ? old : undefined;
  const at = path || '<nil>';
  found.matches++;
  const count = maxProperties === undefined && minProperties === undefined ? 0 : Object.keys(fields).length;
  if (minProperties !== undefined && count < minProperties)
    found.add(invalid(at, count, `${named(path)} should have at least ${minProperties} properties`));
  if (maxProperties !== undefined && count > maxProperties) found.add(tooMany(at, count, maxProperties));
  const judgeField = (name: string, property: StructuralSchema): void =>
    judge(
      fields[name],
      property,
      { path: below(path, name), ...(before && { old: ownField(before, name) }) },
      found,
    );
  for (const name in fields) {
    if (Object.hasOwn(properties, name)) continue;
    if (additionalProperties === false)
      found.add(invalid(at, name, `${path}.${name} in body is a forbidden property`));
    else if (isSchema(additionalProperties)) judgeField(name, additionalProperties);
  }
  for (const name in fields) {
    const property = ownField(properties, name);
    if (property) judgeField(name, property);
  }
  for (const name of schema.required ?? [])
    if (ownField(fields, name) === undefined) found.add(required(below(path, name)));
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** If several alternatives all fail, the errors of the one that fits best are given, too. */
function judgeJunctors(value: unknown, schema: StructuralSchema, place: Place, found: Findings): void {
  const { allOf, anyOf, oneOf, not } = schema;
  found.matches++;
  if (!allOf && !anyOf && !oneOf && !not) return;
  // The genuine server names neither the field nor the value of these, but in the text.
  const complain = (problem: string): void =>
    void found.add(invalid('<nil>', '', `${JSON.stringify(place.path)} ${problem}`));
  const check = (part: StructuralSchema): Findings => {
    const result = new Findings();
    judgeChanged(value, part, place, result);
    return result;
  };
  const isValid = ({ errors }: Findings): boolean => errors.length === 0;
  if (anyOf && anyOf.length > 0) {
    const results = anyOf.map(check);
    const valid = results.find(isValid);
    if (!valid) complain('must validate at least one schema (anyOf)');
    found.merge(valid ?? bestOf(results));
  }
  if (oneOf && oneOf.length > 0) {
    const results = oneOf.map(check);
    const valid = results.filter(isValid);
    if (valid.length !== 1) {
      const detail = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      complain(`must validate one and only one schema (oneOf). ${detail}`);
    }
    if (valid.length < 2) found.merge(valid[0] ?? bestOf(results));
  }
  if (allOf && allOf.length > 0) {
    const results = allOf.map(check);
    for (const result of results) found.merge(result);
    const valid = results.filter(isValid).length;
    if (valid < results.length)
      complain(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  }
  if (not && isValid(check(not))) complain('must not validate the schema (not)');
}

function bestOf(results: readonly Findings[]): Findings {
  return results.reduce((best, result) => (result.matches > best.matches ? result : best));
}
