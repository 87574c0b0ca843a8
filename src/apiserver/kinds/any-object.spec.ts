import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../machinery/kubernetes/index.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { createSchemaRegistry, decodeJson, normalizeObject } from '../schema/index.js';
import type { ObjectSchema } from '../schema/index.js';
import { decideDeletion } from '../objects/registry/decide-deletion.js';
import { createKindRegistry } from './kind-registry.js';

/**
 * Invariants, for every object that can be decoded, however incomplete: nothing throws; defaults change nothing
 * the second time; what the defaults made decodes to itself.
 */
const schemas = createSchemaRegistry();

/** Numbers that only an int64 holds. */
const LARGE = [9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)];

/** Documents of a schema's shape, with holes: missing fields, nulls, and unknown words. */
function documents(schema: ObjectSchema, depth: number): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'ref':
      return fc.constant(null).chain(() => documents(schemas.get(schema.ref ?? '') as ObjectSchema, depth));
    case 'object':
      return depth <= 0 ? fc.constant({}) : records(schema, depth - 1);
    case 'array':
      return fc.array(documents(schema.items as ObjectSchema, depth), { maxLength: 2 });
    case 'map':
      return fc.dictionary(
        fc.constantFrom('a', 'cpu', 'b/c', '!'),
        documents(schema.items as ObjectSchema, depth),
        {
          maxKeys: 2,
        },
      );
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return schema.format === 'int64'
        ? fc.constantFrom(0, 1, -1, 30, ...LARGE)
        : fc.constantFrom(0, 1, -1, 80, 70000);
    case 'number':
      return fc.constantFrom(0, 1, -1, 0.5);
    case 'any':
      return fc.constant({});
    case 'union':
      return fc
        .constantFrom(...(schema.anyOf ?? []))
        .chain((alternative) => documents(alternative, Math.min(depth, 2)));
    case 'string':
      return strings(schema.format);
  }
}

function strings(format: string | undefined): fc.Arbitrary<string | number> {
  if (format === 'quantity') return fc.constantFrom('1', '500m', '-1', '1Gi', 0.5);
  // With six digits it is one of both kinds of times.
  if (format === 'date-time')
    return fc.constantFrom('2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.500000+01:00');
  if (format === 'byte') return fc.constantFrom('', 'YQ==');
  if (format === 'int-or-string') return fc.constantFrom(0, 1, '25%', 'x');
  return fc.constantFrom('', 'a', 'Always', 'RollingUpdate', 'In', 'TCP', 'Not A Name');
}

/** Few fields at a time, so that the depths are reached. */
function records(schema: ObjectSchema, depth: number): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  const wanted = names.filter((name) =>
    ['metadata', 'spec', 'status', 'template', 'containers'].includes(name),
  );
  return fc
    .subarray(names, { maxLength: Math.min(names.length, 6) })
    .chain((some) =>
      fc.record(
        Object.fromEntries(
          [...new Set([...wanted, ...some])].map((name) => [
            name,
            fc.option(documents(schema.properties?.[name] as ObjectSchema, depth), { freq: 12 }),
          ]),
        ),
      ),
    );
}

describe.each(createKindRegistry().kinds)('any $type.kind that can be decoded', (kind) => {
  const bodies = documents(schemas.get(kind.schema) as ObjectSchema, 7).map((body) => stringifyJson(body));

  it('goes through everything without an accident', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const { object, findings } = decodeJson(body, schemas, kind.schema);
        expect(findings).toEqual([]);
        kind.applyDefaults(object);
        const once = structuredClone(object);
        kind.applyDefaults(object);
        expect(object).toEqual(once);
        kind.prepareForCreate(object);
        const old = structuredClone(object);
        kind.validateCreate(object);
        for (const part of ['', 'status', 'finalize'] as const) {
          kind.prepareForUpdate(object, old, part);
          kind.validateUpdate(object, old, part);
        }
        expect(kind.toRow(object, 0)).toHaveLength(kind.columns.length);
        kind.selectableFields(object);
        kind.gracefulDeletion(object, undefined);
        stringifyJson(decideDeletion(object, kind, {}, 0));
        kind.scale?.read(object);
        expect(normalizeObject(object, schemas, kind.schema)).toEqual([]);
      }),
      propertyRuns({ gate: 20 }),
    );
  });
});
