import type { ObjectSchema, SchemaRegistry } from './object-schema.js';
import type { StructuralSchema } from './structural-schema.js';

/** A schema made ready for decoding: references resolved once, properties in a Map. */
export interface FieldDecoder {
  readonly kind:
    | 'object'
    | 'array'
    | 'map'
    | 'string'
    | 'int32'
    | 'int64'
    | 'number'
    | 'boolean'
    | 'quantity'
    | 'int-or-string'
    | 'time'
    | 'micro-time'
    | 'bytes'
    | 'union'
    | 'any';
  /** As Go would print the type: `v1.PodSpec`, `[]v1.Container`, `int32`. */
  readonly goType: string;
  /** `PodSpec`: the prefix of the path in Go's errors. */
  readonly structName: string;
  readonly properties: ReadonlyMap<string, FieldDecoder>;
  readonly required: ReadonlySet<string>;
  readonly items?: FieldDecoder;
  /** For `union`: the decoders of its alternatives. */
  readonly anyOf?: readonly FieldDecoder[];
  /** The empty value of an optional field that is left out. */
  readonly omit: 'empty' | 'zero' | 'nothing';
  /** For `object`: the embedded structs that a property is in, which Go has in its paths. */
  readonly inside: Readonly<Record<string, string>>;
  /** For `object`: what is written of properties that are empty. */
  readonly always: readonly EmptyField[];
  /** For `object`: by what the fields beyond `properties` are pruned. */
  readonly structural?: StructuralSchema;
}

/** A property that is written although it is empty. */
interface EmptyField {
  readonly name: string;
  /** The fields of a struct. */
  readonly struct?: FieldDecoder;
  /** The decoder of all other values. */
  readonly value?: unknown;
}

const NOT_INSIDE: Readonly<Record<string, string>> = {};
const NO_FIELDS: readonly EmptyField[] = [];
const NONE: ReadonlyMap<string, FieldDecoder> = new Map();
const NOTHING: ReadonlySet<string> = new Set();

/** Keyed by the schema itself, because a name may be redefined. */
type CompiledSchemas = WeakMap<ObjectSchema, FieldDecoder>;

const cache = new WeakMap<SchemaRegistry, CompiledSchemas>();

/** The decoder of a schema by name, compiled once. @throws RangeError for an unknown name */
export function fieldDecoder(schemas: SchemaRegistry, name: string): FieldDecoder {
  let compiled = cache.get(schemas);
  if (!compiled) cache.set(schemas, (compiled = new WeakMap()));
  return compileNamed(schemas, name, compiled);
}

function compileNamed(schemas: SchemaRegistry, name: string, compiled: CompiledSchemas): FieldDecoder {
  const schema = schemas.get(name);
  if (!schema) throw new RangeError(`no schema is named ${name}`);
  const known = compiled.get(schema);
  if (known) return known;
  const parts = name.split('.');
  const goType = parts.slice(-2).join('.');
  if (schema.type !== 'object') {
    const scalar = { ...compile(schemas, schema, compiled), goType };
    const decoder = name.endsWith('.MicroTime') ? { ...scalar, kind: 'micro-time' as const } : scalar;
    compiled.set(schema, decoder);
    return decoder;
  }
  // Registered before its properties are read: types refer to themselves.
  const properties = new Map<string, FieldDecoder>();
  const always: EmptyField[] = [];
  const facts = schemas.goFacts(name);
  const decoder: FieldDecoder = {
    kind: 'object',
    goType,
    structName: parts.at(-1) ?? name,
    properties,
    required: new Set(schema.required),
    omit: 'empty',
    inside: facts.inside ?? NOT_INSIDE,
    always,
    ...(schema.structural && { structural: schema.structural }),
  };
  compiled.set(schema, decoder);
  for (const [property, shape] of Object.entries(schema.properties ?? {})) {
    const field = compile(schemas, shape, compiled);
    properties.set(property, withGoType(field, facts.types?.[property]));
    if (facts.always && Object.hasOwn(facts.always, property))
      always.push(emptyField(property, field, facts.always[property]));
  }
  return decoder;
}

/** A type of a name of its own: `v1.RestartPolicy`, a list of such, or a list or map that has one. */
function withGoType(field: FieldDecoder, goType: string | undefined): FieldDecoder {
  if (goType === undefined) return field;
  const [list] = /^(?:\[\]|map\[[\w.]+\])/.exec(goType) ?? [];
  const { items } = field;
  if (list === undefined || !items) return { ...field, goType };
  return { ...field, goType, items: withGoType(items, goType.slice(list.length)) };
}

function emptyField(name: string, field: FieldDecoder, value: unknown): EmptyField {
  return value !== null && field.kind === 'object' ? { name, struct: field } : { name, value };
}

function compile(schemas: SchemaRegistry, schema: ObjectSchema, compiled: CompiledSchemas): FieldDecoder {
  if (schema.type === 'ref') return compileNamed(schemas, schema.ref ?? '', compiled);
  const kind = kindOf(schema);
  const items = schema.items && compile(schemas, schema.items, compiled);
  const goType = goTypeOf(kind, items);
  return {
    kind,
    goType,
    structName: goType,
    properties: NONE,
    required: NOTHING,
    inside: NOT_INSIDE,
    always: NO_FIELDS,
    omit: schema.omitZero ? 'zero' : schema.keepEmpty || kind === 'int-or-string' ? 'nothing' : 'empty',
    ...(items && { items }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map((shape) => compile(schemas, shape, compiled)) }),
  };
}

function kindOf(schema: ObjectSchema): FieldDecoder['kind'] {
  switch (schema.type) {
    case 'string':
      if (schema.format === 'quantity' || schema.format === 'int-or-string') return schema.format;
      if (schema.format === 'byte') return 'bytes';
      return schema.format === 'date-time' ? 'time' : 'string';
    case 'integer':
      return schema.format === 'int64' ? 'int64' : 'int32';
    case 'ref':
      throw new RangeError('a reference has no kind of its own');
    default:
      return schema.type;
  }
}

function goTypeOf(kind: FieldDecoder['kind'], items: FieldDecoder | undefined): string {
  if (kind === 'array') return `[]${items?.goType ?? 'interface {}'}`;
  if (kind === 'map') return `map[string]${items?.goType ?? 'interface {}'}`;
  if (kind === 'bytes') return '[]uint8';
  return kind === 'boolean' ? 'bool' : kind === 'number' ? 'float64' : kind;
}
