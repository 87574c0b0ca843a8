import * as z from 'zod';
import type { ZodType } from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';

/** An OpenAPI v3 schema as CustomResourceDefinitions take it. */
export type StructuralSchema = Readonly<Record<string, unknown>>;

type Fields = Readonly<Record<string, unknown>>;

/** Keywords that are taken over as they are; `x-kubernetes-…` from `meta` too. */
const KEPT = [
  ...['type', 'description', 'default', 'enum', 'format', 'pattern', 'title', 'example', 'nullable'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'multipleOf'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
];
/** The formats that zod calls otherwise than Kubernetes. */
const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'date-time', uri: 'uri', email: 'email' };

/**
 * The structural schema of what a zod schema takes in. Defaults, limits, patterns and descriptions are kept, and what
 * `meta` says with `x-kubernetes-…`.
 * @param at for messages: `spec`
 * @throws InvalidOptionError naming the field that no structural schema can say
 */
export function structuralSchema(schema: ZodType, at: string): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    cycles: 'throw',
    unrepresentable: 'throw',
  });
  return structuralSchemaOf(json, at);
}

/**
 * The structural schema that says the same as one of JSON Schema (draft 2020), with `x-kubernetes-…`.
 * @param at for messages: `spec`
 * @throws InvalidOptionError naming the field that no structural schema can say
 */
export function structuralSchemaOf(json: Fields, at: string): StructuralSchema {
  const nullable = withoutNull(json);
  if (nullable) return { ...structuralSchemaOf(nullable, at), nullable: true };
  const choices = literalsOf(json);
  if (choices) return { ...metaOf(json), type: typeOf(choices, at), enum: choices };
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', '$ref', 'prefixItems', 'patternProperties'])
    if (json[keyword] !== undefined && json['x-kubernetes-int-or-string'] !== true)
      throw new InvalidOptionError(
        at,
        `a structural schema cannot say ${keyword === '$ref' ? 'that a type contains itself' : keyword}: use one type with optional fields, and a CEL rule`,
      );
  const kept = Object.fromEntries(
    Object.entries(json).filter(([keyword]) => KEPT.includes(keyword) || keyword.startsWith('x-kubernetes-')),
  );
  return { ...kept, ...formatOf(json), ...boundsOf(json), ...contentOf(json, at), ...unknownOf(json) };
}

function contentOf({ additionalProperties, items, properties, required }: Fields, at: string): Fields {
  const fields = isJsonObject(properties)
    ? Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [
          name,
          structuralSchemaOf(isJsonObject(each) ? each : {}, `${at}.${name}`),
        ]),
      )
    : undefined;
  // A structural schema has fields of its own, or any of one type, and not both.
  const others = !fields && isJsonObject(additionalProperties) ? additionalProperties : undefined;
  const isAny = others !== undefined && Object.keys(others).length === 0;
  return {
    ...(fields && { properties: fields }),
    ...(Array.isArray(required) && required.length > 0 && { required }),
    ...(isJsonObject(items) && { items: structuralSchemaOf(items, `${at}[]`) }),
    ...(others && !isAny && { additionalProperties: structuralSchemaOf(others, `${at}.*`) }),
    ...(isAny && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

/** `z.unknown()`: any value is kept. */
function unknownOf(json: Fields): Fields {
  const saysNothing = json['type'] === undefined && json['x-kubernetes-int-or-string'] !== true;
  return saysNothing ? { 'x-kubernetes-preserve-unknown-fields': true } : {};
}

/** Draft 2020 has numbers where OpenAPI 3.0 has flags. The limits of a double's integers say nothing. */
function boundsOf({ exclusiveMaximum, exclusiveMinimum, maximum, minimum }: Fields): Fields {
  const lower = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : minimum;
  const upper = typeof exclusiveMaximum === 'number' ? exclusiveMaximum : maximum;
  return {
    minimum: lower === Number.MIN_SAFE_INTEGER ? undefined : lower,
    maximum: upper === Number.MAX_SAFE_INTEGER ? undefined : upper,
    ...(typeof exclusiveMinimum === 'number' && { exclusiveMinimum: true }),
    ...(typeof exclusiveMaximum === 'number' && { exclusiveMaximum: true }),
  };
}

function formatOf({ format, type }: Fields): Fields {
  if (type === 'integer') return { format: 'int64' };
  return { format: typeof format === 'string' ? FORMATS[format] : undefined };
}

/** The other of two alternatives, if one is null. */
function withoutNull(json: Fields): Fields | undefined {
  const { anyOf } = json;
  if (!Array.isArray(anyOf)) return undefined;
  const others: readonly unknown[] = anyOf.filter(
    (each: unknown) => !(isJsonObject(each) && each['type'] === 'null'),
  );
  if (others.length === anyOf.length) return undefined;
  const { anyOf: _, ...rest } = json;
  const [other] = others;
  return others.length === 1
    ? { ...(isJsonObject(other) ? other : {}), ...rest }
    : { ...rest, anyOf: others };
}

/** The values of literals, alone or as alternatives. */
function literalsOf({ anyOf, const: value, enum: values, oneOf }: Fields): readonly unknown[] | undefined {
  if (value !== undefined) return [value];
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (!alternatives) return Array.isArray(values) ? values : undefined;
  const each = alternatives.map((one: unknown) => (isJsonObject(one) ? literalsOf(one) : undefined));
  return each.every((one) => one !== undefined) ? each.flat() : undefined;
}

function typeOf(values: readonly unknown[], at: string): string {
  const types = [...new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)))];
  const [type = 'string'] = types;
  if (types.length > 1)
    throw new InvalidOptionError(at, 'a structural schema cannot say that a value is of several types');
  return type;
}

/** The facts that may be stated of a value of any type. */
function metaOf(json: Fields): Fields {
  return Object.fromEntries(
    Object.entries(json).filter(
      ([keyword]) =>
        ['description', 'default', 'title'].includes(keyword) || keyword.startsWith('x-kubernetes-'),
    ),
  );
}
