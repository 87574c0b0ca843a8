import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiVersionOf } from '../../../machinery/kubernetes/index.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { BUILT_IN_KINDS } from '../../kinds/built-in-kinds.js';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import type { ObjectSchema } from '../../schema/index.js';
import { decodeProtobuf } from './decode-protobuf.js';
import { layoutOf } from './message-layouts.js';
import { ProtobufAnswers } from './protobuf-answers.js';

const schemas = createSchemaRegistry();
const answers = new ProtobufAnswers(createKindRegistry(), schemas);

/** Types that name themselves end here. */
const MAX_DEPTH = 6;

/** Any value of a type, without what JSON has two forms of: empty lists and maps, and times finer than their type. */
function anyOf(shape: ObjectSchema, depth: number, name = ''): Arbitrary<unknown> {
  switch (shape.type) {
    case 'ref':
      return anyOf(schemas.get(shape.ref ?? '') ?? { type: 'any' }, depth, shape.ref);
    case 'object':
      return objects(shape, depth, name);
    case 'array':
      return fc.array(anyOf(shape.items ?? { type: 'any' }, depth + 1), { minLength: 1, maxLength: 2 });
    case 'map':
      return fc.dictionary(keys, anyOf(shape.items ?? { type: 'string' }, depth + 1), {
        minKeys: 1,
        maxKeys: 2,
      });
    case 'integer':
      return shape.format === 'int32' ? fc.integer() : int64;
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));
    case 'boolean':
      return fc.boolean();
    case 'union':
      return fc.oneof(...(shape.anyOf ?? []).map((member) => anyOf(member, depth + 1)));
    case 'any':
      return fc.record({ a: fc.string(), b: fc.integer(), c: fc.array(fc.boolean(), { maxLength: 2 }) });
    case 'string':
      return texts(shape.format, name);
  }
}

const keys = fc.stringMatching(/^[a-z]{1,6}$/);
const int64 = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));

function texts(format: string | undefined, name: string): Arbitrary<unknown> {
  switch (format) {
    case 'byte':
      return fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'date-time': {
      const fraction = name.endsWith('.MicroTime') ? '.123456Z' : 'Z';
      return fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => {
        return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, fraction);
      });
    }
    case 'quantity':
      return fc.constantFrom('1', '250m', '3Gi', '1e3');
    case 'int-or-string':
      return fc.oneof(fc.integer(), fc.constantFrom('25%', 'http'));
    default:
      return fc.string();
  }
}

/** Objects with the fields that the type's message has. */
function objects(shape: ObjectSchema, depth: number, name: string): Arbitrary<unknown> {
  const known = new Set(propertiesOf(name));
  const fields = Object.entries(shape.properties ?? {}).filter(([field]) => known.has(field));
  if (depth >= MAX_DEPTH) return fc.constant({});
  const record = Object.fromEntries(
    fields.map(([field, of]) => [
      field,
      fc.option(anyOf(of, depth + 1), { nil: undefined, freq: depth < 2 ? 3 : 1 }),
    ]),
  );
  return fc
    .record(record)
    .map((object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)));
}

function propertiesOf(name: string): string[] {
  return Object.values(layoutOf(name) ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : propertiesOf(entry[0]),
  );
}

describe('an object of a built-in kind', () => {
  it.each(BUILT_IN_KINDS.map((kind) => [kind.type.kind, kind] as const))(
    'is the same after it went through protobuf: %s',
    (_name, kind) => {
      const head = { apiVersion: apiVersionOf(kind.type), kind: kind.type.kind };
      expect(answers.has(kind)).toBe(true);
      fc.assert(
        fc.property(objects(schemas.get(kind.schema)!, 0, kind.schema), (fields) => {
          const object = { ...head, ...(fields as object) };
          const bytes = answers.encode(object);
          expect(decodeProtobuf(bytes!, { schemas, schema: kind.schema })).toEqual(object);
        }),
        propertyRuns({ gate: 5, nightly: 200 }),
      );
    },
  );
});
