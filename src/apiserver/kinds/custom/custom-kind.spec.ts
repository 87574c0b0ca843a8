import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { createSchemaRegistry, decodeJson, normalizeObject } from '../../schema/index.js';
import type { StructuralSchema } from '../../schema/index.js';
import type { Definition } from './custom-kind.js';
import { customKindsOf } from './custom-kind.js';

const SPEC: StructuralSchema = {
  type: 'object',
  properties: {
    schedule: { type: 'string' },
    size: { type: 'integer', default: 1 },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
    },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, weight: { type: 'integer', default: 5 as never } },
      },
    },
    note: { type: 'string', nullable: true },
  },
};

function aDefinition(version: object = {}): Definition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com', uid: 'u', generation: 1 },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['th'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: { type: 'object' } } },
          },
          subresources: {
            status: {},
            scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
          },
          ...version,
        },
      ],
    },
  } as unknown as Definition;
}

function kindOf(definition: Definition = aDefinition()) {
  const schemas = createSchemaRegistry();
  const [{ kind, schema } = undefined as never] = customKindsOf(definition);
  schemas.put(kind.schema, schema);
  const read = (spec: unknown, extra: object = {}) =>
    decodeJson(
      JSON.stringify({
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: { name: 'a' },
        spec,
        ...extra,
      }),
      schemas,
      kind.schema,
    );
  return { kind, schemas, read };
}

describe('an object of a kind that a user has defined', () => {
  it('keeps the fields that its schema has, and reports the others', () => {
    const { read } = kindOf();
    const { object, findings } = read(
      {
        schedule: '',
        extra: 1,
        open: { any: { thing: [null] } },
        labels: { a: 'b' },
        template: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'x' },
          spec: { a: 'b', c: 'd' },
          more: 1,
        },
        parts: [{ name: 'p', odd: true }],
      },
      { other: true },
    );
    expect(object.spec).toEqual({
      schedule: '',
      open: { any: { thing: [null] } },
      labels: { a: 'b' },
      template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { a: 'b' } },
      parts: [{ name: 'p' }],
    });
    expect(findings.map(({ path }) => path)).toEqual([
      'other',
      'spec.extra',
      'spec.parts[0].odd',
      'spec.template.more',
      'spec.template.spec.c',
    ]);
  });

  it('leaves a value of a wrong type to its validation', () => {
    const { kind, read } = kindOf();
    const { object } = read({ schedule: 5 });
    object.metadata.namespace = 'default';
    expect(kind.validateCreate(object).map(({ field }) => field)).toEqual(['spec.schedule']);
  });

  it('gets defaults below what is there, and loses nulls that count for nothing', () => {
    const { kind, read } = kindOf();
    const { object } = read({ size: null, schedule: null, note: null, parts: [{ name: 'p' }] });
    kind.applyDefaults(object);
    expect(object.spec).toEqual({ size: 1, note: null, parts: [{ name: 'p', weight: 5 }] });
    const without = read(undefined).object;
    kind.applyDefaults(without);
    expect(without).not.toHaveProperty('spec');
  });

  it('counts generations by everything but the metadata and the status', () => {
    const { kind } = kindOf();
    const old: UnstructuredObject = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'default', generation: 3 },
      spec: { size: 1 },
      status: { size: 0 },
    };
    const update = (change: object, subresource: '' | 'status') => {
      const object = { ...structuredClone(old), ...change };
      kind.prepareForUpdate(object, old, subresource);
      return object;
    };
    expect(update({ spec: { size: 2 }, status: { size: 9 } }, '')).toMatchObject({
      metadata: { generation: 4 },
      status: { size: 0 },
    });
    expect(update({ spec: { size: 2 }, status: { size: 9 } }, 'status')).toMatchObject({
      metadata: { generation: 3 },
      spec: { size: 1 },
      status: { size: 9 },
    });
  });

  it('shows itself as a Scale where its definition says', () => {
    const { kind } = kindOf();
    const object = { metadata: { name: 'a' }, status: { size: 2 } } as unknown as UnstructuredObject;
    kind.scale?.write(object, 7);
    expect(kind.scale?.read(object)).toEqual({ specReplicas: 7, statusReplicas: 2, selector: '' });
  });

  it('is printed with its name and its age, or with the columns that its definition asks for', () => {
    const object = {
      metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { size: 3 },
    } as unknown as UnstructuredObject;
    const now = Date.parse('2026-01-01T00:01:00Z');
    expect(kindOf().kind.toRow(object, now)).toEqual(['a', '60s']);
    const columns = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
    ];
    const { kind } = kindOf(aDefinition({ additionalPrinterColumns: columns }));
    expect(kind.columns.map(({ name }) => name)).toEqual(['Name', 'Size', 'Ready']);
    expect(kind.toRow(object, now)).toEqual(['a', 3, null]);
  });

  it('decodes to itself once it has its defaults', () => {
    const { kind, schemas, read } = kindOf();
    const { object } = read({ parts: [{}], open: { a: null } });
    kind.applyDefaults(object);
    const before = structuredClone(object);
    expect(normalizeObject(object, schemas, kind.schema)).toEqual([]);
    expect(object).toEqual(before);
  });
});

describe('a definition of several versions', () => {
  it('shows objects of one version in the form of the others', () => {
    const definition = aDefinition();
    const [first] = definition.spec.versions;
    definition.spec.versions.push({ ...first!, name: 'v2', storage: false });
    const [, second] = customKindsOf(definition);
    const view = second!.kind.view!;
    const object = { apiVersion: 'example.com/v2', kind: 'Thing', metadata: { name: 'a' } };
    const stored = view.toStored(object);
    expect(stored.apiVersion).toBe('example.com/v1');
    expect(view.fromStored(stored)).toEqual(object);
  });

  it('has no kind for a version that is not served', () => {
    expect(customKindsOf(aDefinition({ served: false }))).toEqual([]);
  });
});
