import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

/** Nothing below is required or forbidden, so a client writes each plain field of the type with its zero value. */
const ZEROS = {
  exclusiveMaximum: false,
  exclusiveMinimum: false,
  nullable: false,
  uniqueItems: false,
  'x-kubernetes-embedded-resource': false,
  'x-kubernetes-int-or-string': false,
};
const FOO: Body = {
  description: 'Foo CRD for testing',
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      description: 'Specification of Foo',
      properties: {
        bars: {
          description: 'List of Bars',
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', description: 'Name of Bar' },
              feeling: { type: 'string', enum: ['Great', 'Down'] },
              age: { type: 'integer', format: 'int32', minimum: 0 },
            },
          },
        },
      },
    },
    status: { type: 'object', properties: { kind: { type: 'string', pattern: 'in|out' } } },
  },
};

let server: RunningApiServer;

beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

/** As clients in Go send it: every plain field is written, even if it is empty. */
function withZeros(schema: Body): Body {
  if (Array.isArray(schema)) return schema.map(withZeros);
  if (typeof schema !== 'object' || schema === null) return schema;
  const made: Body = 'type' in schema && typeof schema.type === 'string' ? { ...ZEROS } : {};
  for (const [key, value] of Object.entries(schema)) made[key] = withZeros(value);
  return made;
}

async function define(group: string, schema: Body, versions = ['v1'], kind = 'Foo'): Promise<string> {
  const plural = `${kind.toLowerCase()}s`;
  const { status, text } = await server.call('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      preserveUnknownFields: false,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        deprecated: false,
        schema: { openAPIV3Schema: withZeros(schema) },
      })),
    },
  });
  expect(status, text).toBe(201);
  return `${DEFINITIONS}/${plural}.${group}`;
}

const nameOf = (group: string, version: string, kind = 'Foo'): string =>
  [...group.split('.').reverse(), version, kind].join('.');

/** The definitions of version 2, without what the server adds to each. */
async function published(): Promise<Record<string, Body>> {
  const { body } = await server.call('GET', '/openapi/v2');
  return Object.fromEntries(
    Object.entries<Body>(body.definitions).map(([name, schema]) => {
      const { 'x-kubernetes-group-version-kind': _types, ...own } = schema;
      const { apiVersion: _version, kind: _kind, metadata: _metadata, ...properties } = own.properties ?? {};
      return [
        name,
        Object.keys(properties).length > 0 ? { ...own, properties } : { ...own, properties: undefined },
      ];
    }),
  );
}

describe('the published description of a definition', () => {
  it('is its schema, without fields that have their zero value', async () => {
    const path = await define('foo.example.com', FOO);
    expect((await published())[nameOf('foo.example.com', 'v1')]).toEqual(FOO);
    const { body } = await server.call('GET', path);
    expect(body.spec.versions[0].schema.openAPIV3Schema).toEqual(FOO);
    expect(body.spec).not.toHaveProperty('preserveUnknownFields');
    expect(body.spec.versions[0]).not.toHaveProperty('deprecated');
  });

  it('says only that it is an object, if it keeps unknown fields at its root', async () => {
    const schema = { ...FOO, 'x-kubernetes-preserve-unknown-fields': true };
    await define('empty.example.com', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
    await define('root.example.com', schema);
    const all = await published();
    expect(all[nameOf('empty.example.com', 'v1')]).toEqual({ type: 'object' });
    expect(all[nameOf('root.example.com', 'v1')]).toEqual({ type: 'object' });
    const third = await server.call('GET', '/openapi/v3/apis/root.example.com/v1');
    expect(third.body.components.schemas[nameOf('root.example.com', 'v1')]).toMatchObject(schema);
  });

  it('has no type and no fields below where unknown fields are kept or null is allowed', async () => {
    await define('nested.example.com', {
      type: 'object',
      properties: {
        open: {
          type: 'object',
          description: 'open',
          'x-kubernetes-preserve-unknown-fields': true,
          required: ['a'],
          properties: { a: { type: 'string' } },
        },
        nil: { type: 'string', nullable: true },
        spec: {
          type: 'object',
          required: ['a', 'b'],
          properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
        },
        either: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        resource: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object' } },
        },
      },
    });
    const { properties } = (await published())[nameOf('nested.example.com', 'v1')];
    expect(properties).toMatchObject({
      spec: { required: ['b'], properties: { a: {}, b: { type: 'string' } } },
    });
    expect(properties.open).toEqual({
      description: 'open',
      'x-kubernetes-preserve-unknown-fields': true,
      required: ['a'],
    });
    expect(properties.nil).toEqual({});
    expect(properties.either).toEqual({ 'x-kubernetes-int-or-string': true });
    expect(properties.resource.required).toEqual(['kind', 'apiVersion']);
    expect(Object.keys(properties.resource.properties).sort()).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
    ]);
  });

  it('is there for each group, each version and each kind, and goes with its definition', async () => {
    const other = { type: 'object', description: 'Waldo', properties: { spec: { type: 'object' } } };
    const foo = await define('many.example.com', FOO, ['v2', 'v3']);
    const waldo = await define('many.example.com', other, ['v2'], 'Waldo');
    await define('others.example.com', other, ['v1beta1'], 'Waldo');
    const all = await published();
    for (const version of ['v2', 'v3']) expect(all[nameOf('many.example.com', version)]).toEqual(FOO);
    expect(all[nameOf('many.example.com', 'v2', 'Waldo')]).toEqual(other);
    expect(all[nameOf('others.example.com', 'v1beta1', 'Waldo')]).toEqual(other);
    for (const path of [foo, waldo]) expect((await server.call('DELETE', path)).status).toBe(200);
    await expect
      .poll(async () => Object.keys(await published()).filter((name) => name.startsWith('com.example.many.')))
      .toEqual([]);
  });

  it('follows a version that is renamed, and one that is no longer served', async () => {
    const path = await define('versions.example.com', FOO, ['v2', 'v3', 'v6alpha1']);
    const before = await server.call('GET', '/openapi/v2');
    const renamed = await server.call(
      'PATCH',
      path,
      [
        { op: 'test', path: '/spec/versions/1/name', value: 'v3' },
        { op: 'replace', path: '/spec/versions/1/name', value: 'v4' },
        { op: 'replace', path: '/spec/versions/2/served', value: false },
      ],
      JSON_PATCH,
    );
    expect(renamed.status, renamed.text).toBe(200);
    const all = await published();
    const versions = ['v2', 'v3', 'v4', 'v6alpha1'].filter(
      (version) => all[nameOf('versions.example.com', version)],
    );
    expect(versions).toEqual(['v2', 'v4']);
    expect(all[nameOf('versions.example.com', 'v4')]).toEqual(FOO);
    const etag = before.headers.get('etag') ?? '';
    const again = await server.call('GET', '/openapi/v2', undefined, { 'if-none-match': etag });
    expect(again.status).toBe(200);
  });
});
