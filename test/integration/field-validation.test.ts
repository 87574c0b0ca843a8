import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDeployment, startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments?fieldManager=m&fieldValidation';
const THINGS = '/apis/example.com/v1/things';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const YAML = { 'content-type': 'application/yaml' };

let server: RunningApiServer;

beforeAll(async () => {
  server = await startApiServer();
  const spec: Body = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: {
      foo: { type: 'string' },
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { spec: { type: 'object' } },
      },
      strict: { type: 'object', properties: { a: { type: 'string' } } },
    },
  };
  const { status, text } = await server.call('POST', DEFINITIONS, {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  });
  expect(status, text).toBe(201);
});
afterAll(() => server.stop());

function applied(body: string, level = 'Strict'): ReturnType<RunningApiServer['call']> {
  return server.call('PATCH', `${THINGS}/mytest?fieldManager=m&fieldValidation=${level}`, body, APPLY);
}

const HEAD = `
apiVersion: example.com/v1
kind: Thing
metadata:
  name: mytest
  finalizers:
  - test-finalizer
`;

describe('field validation', () => {
  it('lists unknown and duplicate fields of a type in the order of the text', async () => {
    const text = JSON.stringify(aDeployment('my-dep', { replicas: 2 })).replace(
      '"replicas":2',
      '"unknownField":"foo","replicas":2,"replicas":3',
    );
    const strict = await server.call('POST', `${DEPLOYMENTS}=Strict`, text);
    expect(strict.status).toBe(400);
    expect(strict.body.message).toContain(
      'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas"',
    );
    const warned = await server.call('POST', `${DEPLOYMENTS}=Warn`, text);
    expect(warned.body.spec.replicas).toBe(3);
    expect(warned.headers.get('warning')).toBe(
      '299 - "unknown field \\"spec.unknownField\\"", 299 - "duplicate field \\"spec.replicas\\""',
    );
  });

  it('names the lines of keys that a text of YAML repeats, before unknown fields', async () => {
    const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: y\n  name: z\nspec:\n  zeta: 1\n  alpha: 1\n`;
    const strict = await server.call('POST', `${DEPLOYMENTS}=Strict`, text, YAML);
    expect(strict.body.message).toContain(
      'strict decoding error: yaml: unmarshal errors:\n  line 5: key "name" already set in map, unknown field "spec.alpha", unknown field "spec.zeta"',
    );
  });

  it('refuses what is applied and not declared', async () => {
    const root = await applied(`${HEAD}unknownField: unknown\nspec:\n  foo: foo1\n`);
    expect(root.body.message).toContain('.unknownField: field not declared in schema');
    const inside = await applied(
      HEAD.replace('  name: mytest\n', '  name: mytest\n  unknownMeta: unknown\n'),
    );
    expect(inside.body.message).toContain('.metadata.unknownMeta: field not declared in schema');
  });

  it('finds keys that an applied custom resource repeats, even where unknown fields are kept', async () => {
    const body = `${HEAD}spec:\n  unknown: uk1\n  foo: foo1\n  foo: foo2\n`;
    const strict = await applied(body);
    expect(strict.status).toBe(400);
    expect(strict.body.message).toBe(
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 11: key "foo" already set in map',
    );
    const warned = await applied(body, 'Warn');
    expect(warned.status).toBe(201);
    expect(warned.headers.get('warning')).toContain('299 - "line 11: key \\"foo\\" already set in map"');
    const json = await applied(
      '{"apiVersion":"example.com/v1","kind":"Thing",\n"spec":{"foo":"a","foo":"b"}}',
    );
    expect(json.body.message).toContain('line 2: key "foo" already set in map');
  });

  it('lists the duplicate fields of a custom resource before the unknown ones, which are sorted', async () => {
    const text =
      '{"apiVersion":"example.com/v1","kind":"Thing","zeta":1,"alpha":1,"metadata":{"name":"b","odd":1},"spec":{"strict":{"b":1},"x":{"y":1,"y":2}}}';
    const { body } = await server.call('POST', `${THINGS}?fieldValidation=Strict`, text);
    expect(body.message).toContain(
      'strict decoding error: duplicate field "spec.x.y", unknown field "metadata.odd", unknown field "alpha", unknown field "spec.strict.b", unknown field "zeta"',
    );
  });
});
