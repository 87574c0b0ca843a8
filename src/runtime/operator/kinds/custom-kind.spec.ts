import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineCustomKind, definitionOf, isCustomKind, withRules } from './custom-kind.js';
import type { ObjectOf } from './kinds.js';
import { structuralSchema } from './structural-schema.js';

const Website = defineCustomKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  shortNames: ['ws'],
  spec: withRules(
    z.object({
      host: z.string().min(1).max(253).describe('Where it is.'),
      port: z.int().min(1).max(65_535).default(80),
      tier: z.enum(['free', 'paid']).optional(),
      labels: z.record(z.string(), z.string()).optional(),
      weight: z.number().gt(0).lte(1).nullable().optional(),
      mirrors: z
        .array(z.object({ host: z.string() }))
        .max(5)
        .optional(),
      extra: z.unknown().optional(),
    }),
    { rule: 'self.host == oldSelf.host', message: 'host is immutable' },
  ),
  status: z.object({ ready: z.boolean().optional(), replicas: z.int().optional() }),
  columns: [{ name: 'Host', jsonPath: '.spec.host' }],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  rules: [{ rule: "self.metadata.name.startsWith('w')" }],
});

describe('a custom kind', () => {
  it('has a type by its schemas, with defaults filled in', () => {
    type Site = ObjectOf<typeof Website>;
    expectTypeOf<Site['spec']['port']>().toEqualTypeOf<number>();
    expectTypeOf<Site['spec']['tier']>().toEqualTypeOf<'free' | 'paid' | undefined>();
    expectTypeOf<NonNullable<Site['status']>['ready']>().toEqualTypeOf<boolean | undefined>();
    expect(Website).toMatchObject({ resource: 'websites', namespaced: true });
    expect(isCustomKind(Website)).toBe(true);
    expect(isCustomKind({ ...Website, kind: 'x' })).toBe(true);
    expect(isCustomKind({})).toBe(false);
  });

  it('has a definition with defaults, limits, rules, columns, scale and status', () => {
    const { metadata, spec } = definitionOf(Website);
    expect(metadata.name).toBe('websites.example.com');
    expect(spec).toMatchObject({
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        kind: 'Website',
        listKind: 'WebsiteList',
        plural: 'websites',
        singular: 'website',
        shortNames: ['ws'],
      },
    });
    const [version] = JSON.parse(JSON.stringify(spec.versions)) as Record<string, unknown>[];
    expect(version).toEqual({
      ...{ name: 'v1', served: true, storage: true },
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
      additionalPrinterColumns: [{ name: 'Host', jsonPath: '.spec.host', type: 'string' }],
      schema: {
        openAPIV3Schema: {
          type: 'object',
          required: ['spec'],
          'x-kubernetes-validations': [{ rule: "self.metadata.name.startsWith('w')" }],
          properties: {
            apiVersion: { type: 'string' },
            kind: { type: 'string' },
            metadata: { type: 'object' },
            spec: {
              type: 'object',
              required: ['host'],
              'x-kubernetes-validations': [
                { rule: 'self.host == oldSelf.host', message: 'host is immutable' },
              ],
              properties: {
                host: { type: 'string', minLength: 1, maxLength: 253, description: 'Where it is.' },
                port: { type: 'integer', format: 'int64', minimum: 1, maximum: 65_535, default: 80 },
                tier: { type: 'string', enum: ['free', 'paid'] },
                labels: { type: 'object', additionalProperties: { type: 'string' } },
                weight: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, nullable: true },
                mirrors: {
                  type: 'array',
                  maxItems: 5,
                  items: { type: 'object', required: ['host'], properties: { host: { type: 'string' } } },
                },
                extra: { 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
            status: {
              type: 'object',
              properties: { ready: { type: 'boolean' }, replicas: { type: 'integer', format: 'int64' } },
            },
          },
        },
      },
    });
  });

  it('has several versions, of which one is stored', () => {
    const Old = defineCustomKind({
      ...{ group: 'example.com', version: 'v1beta1', kind: 'Website' },
      spec: z.object({ address: z.string() }),
      deprecationWarning: 'use v1',
    });
    expect(definitionOf(Website, Old).spec.versions).toMatchObject([
      { name: 'v1', storage: true },
      { name: 'v1beta1', storage: false, deprecated: true, deprecationWarning: 'use v1' },
    ]);
    expect(() => definitionOf(Website, Website)).toThrow('version: Website has a version twice');
    const Other = defineCustomKind({
      ...{ group: 'other.com', version: 'v1beta1', kind: 'Website' },
      spec: z.object({}),
    });
    expect(() => definitionOf(Website, Other)).toThrow('kind: ');
  });

  it.each([
    { name: 'alternatives', schema: z.object({ a: z.union([z.string(), z.object({})]) }), at: 'spec.a' },
    { name: 'tuples', schema: z.object({ a: z.array(z.tuple([z.string()])) }), at: 'spec.a[]' },
    { name: 'literals of two types', schema: z.object({ a: z.literal(['x', 1]) }), at: 'spec.a' },
  ])('names the field that no definition can say: $name', ({ at, schema }) => {
    expect(() => structuralSchema(schema, 'spec')).toThrow(`${at}: a structural schema cannot say`);
  });
});
