import type { SchemaRegistry } from '../../../src/apiserver/index.js';
import type { GrowingField, ObjectSchema } from './fields.js';

/** Whether the entries of a list or map are equal, or differ in all that they need. */
export type Variety = 'equal' | 'different';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const MAX_DEPTH = 8;
/** A valid object needs one of these words if the schema does not list the known ones. */
const WORDS: Readonly<Record<string, Json>> = {
  operator: 'Exists',
  whenUnsatisfiable: 'ScheduleAnyway',
  image: 'nginx:1',
};
const FORMATS: Readonly<Record<string, Json>> = {
  'date-time': '2026-01-01T00:00:00Z',
  quantity: '1',
  byte: 'MQ==',
};

/** Makes objects that have what is required of them, and one field that is as long as wanted. */
export class Bodies {
  constructor(private readonly schemas: SchemaRegistry) {}

  /** @param length entries of a list or map, characters of a text */
  make(field: GrowingField, length: number, variety: Variety, unit = 'a'): Json {
    const { kind, path } = field;
    const body = this.along(this.resolve({ type: 'ref', ref: kind.schema }), path, (schema) =>
      this.grown(schema, length, variety, unit),
    ) as { [key: string]: Json };
    const { group, version } = kind.type;
    const metadata = { ...(body['metadata'] as object), ...(path.at(-1) !== 'name' && { name: 'growing' }) };
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return { ...body, apiVersion, kind: kind.type.kind, metadata };
  }

  private grown(schema: ObjectSchema, length: number, variety: Variety, unit: string): Json {
    if (schema.type === 'string') return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    const numbers = Array.from({ length }, (_, index) => (variety === 'equal' ? 1 : index + 1));
    const items = schema.items ?? { type: 'string' };
    if (schema.type !== 'map') return numbers.map((number) => this.sample(items, number));
    return Object.fromEntries(numbers.map((_, index) => [`k${index}`, this.sample(items, numbers[index]!)]));
  }

  private along(
    schema: ObjectSchema,
    [step, ...rest]: readonly (string | number)[],
    end: (schema: ObjectSchema) => Json,
  ): Json {
    if (step === undefined) return end(schema);
    const items = schema.items && this.resolve(schema.items);
    if (typeof step === 'number') return [this.along(items!, rest, end)];
    if (step === '' && items) return { k: this.along(items, rest, end) };
    const value = this.along(this.resolve(schema.properties![step]!), rest, end);
    return { ...(this.sample(schema, 1) as object), [step]: value };
  }

  /** A value of the schema with what it requires, and the fields by which lists tell their entries apart. */
  private sample(given: ObjectSchema, number: number, depth = 0): Json {
    const schema = this.resolve(given);
    switch (schema.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(schema.properties ?? {})
            .filter(([name]) => depth < MAX_DEPTH && isTelling(schema, name))
            .map(([name, property]) => [name, WORDS[name] ?? this.sample(property, number, depth + 1)]),
        );
      case 'array':
        return schema.items && depth < MAX_DEPTH ? [this.sample(schema.items, number, depth + 1)] : [];
      case 'map':
        return {};
      case 'integer':
      case 'number':
        return number;
      case 'boolean':
        return true;
      case 'string':
        return schema.enum?.[0] ?? FORMATS[schema.format ?? ''] ?? `x${number}`;
      default:
        return {};
    }
  }

  private resolve(schema: ObjectSchema): ObjectSchema {
    let resolved = schema;
    while (resolved.type === 'ref') resolved = this.schemas.get(resolved.ref ?? '') ?? { type: 'any' };
    if (resolved.type === 'union') return this.resolve(resolved.anyOf?.[0] ?? { type: 'any' });
    return resolved;
  }
}

const TELLING = new Set([
  'name',
  'key',
  'operator',
  'image',
  'uid',
  'path',
  'ip',
  'topologyKey',
  'mountPath',
  'containerPort',
  'port',
  'type',
]);

function isTelling({ required = [] }: ObjectSchema, name: string): boolean {
  return required.includes(name) || TELLING.has(name);
}
