import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { stringifyJson } from '../../src/machinery/kubernetes/index.js';
import { RedisStorage } from '../../src/apiserver/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

/** Each test has a group of its own, so that none meets the names of another. */
function aDefinition(group: string, change: (definition: Body) => void = () => undefined): Body {
  const definition: Body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `crontabs.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural: 'crontabs',
        singular: 'crontab',
        kind: 'CronTab',
        shortNames: ['ct'],
        categories: ['all'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Spec', type: 'string', jsonPath: '.spec.cronSpec' },
            { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  description: 'What is run, and when.',
                  required: ['cronSpec'],
                  properties: {
                    cronSpec: { type: 'string', pattern: '^\\S+( \\S+){4}$', description: 'When it is run.' },
                    replicas: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
                    ports: {
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['port'],
                      items: {
                        type: 'object',
                        required: ['port'],
                        properties: { port: { type: 'integer' }, name: { type: 'string' } },
                      },
                    },
                  },
                },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  };
  change(definition);
  return definition;
}

function aCronTab(group: string, name: string, spec: object = {}): Body {
  return {
    apiVersion: `${group}/v1`,
    kind: 'CronTab',
    metadata: { name },
    spec: { cronSpec: '* * * * */5', ...spec },
  };
}

function pathOf(group: string, version = 'v1'): string {
  return `/apis/${group}/${version}/namespaces/default/crontabs`;
}

describe('custom resources', () => {
  let server: RunningApiServer;
  beforeAll(async () => {
    server = await startApiServer();
  });
  afterAll(() => server.stop());

  async function defined(group: string, change?: (definition: Body) => void): Promise<string> {
    const answer = await server.call('POST', DEFINITIONS, aDefinition(group, change));
    expect({ status: answer.status, message: answer.body.message }).toEqual({ status: 201 });
    return pathOf(group);
  }

  it.each([
    [
      'networkpolicies',
      'networking.k8s.io',
      'the group "networking.k8s.io" is served by the API server itself',
    ],
    [
      'clusterrolebindings',
      'rbac.authorization.k8s.io',
      'the group "rbac.authorization.k8s.io" is served by the API server itself',
    ],
    [
      'pods',
      'core.api.k8s.io',
      'the names of types below "api.k8s.io" are those of built-in types in OpenAPI',
    ],
  ])('are not defined where built-in kinds are: %s.%s', async (plural, group, message) => {
    const { status, body } = await server.call('POST', DEFINITIONS, aDefinition(group, (definition) => {
      definition.metadata = { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved' } };
      definition.spec.names = { plural, kind: 'Shadow' };
      definition.spec.versions[0].name = 'v9';
    })); // prettier-ignore
    expect(status).toBe(422);
    expect(body.message).toContain(`spec.group: Forbidden: ${message}`);
  });

  it('are served with the next request after their definition was created', async () => {
    const path = await defined('at-once.example.com');
    const created = await server.call('POST', path, aCronTab('at-once.example.com', 'a'));
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ spec: { replicas: 1 }, metadata: { generation: 1 } });
    const definition = await server.call('GET', `${DEFINITIONS}/crontabs.at-once.example.com`);
    const conditions = definition.body.status.conditions.map(({ type, status }: Body) => `${type}=${status}`);
    expect(conditions).toEqual(['NamesAccepted=True', 'Established=True']);
    const resources = await server.call('GET', '/apis/at-once.example.com/v1');
    expect(resources.body.resources.map(({ name }: Body) => name)).toEqual([
      'crontabs',
      'crontabs/status',
      'crontabs/scale',
    ]);
    const document = await server.call('GET', '/openapi/v3/apis/at-once.example.com/v1');
    const { properties } = document.body.components.schemas['com.example.at-once.v1.CronTab'];
    expect(properties.spec.properties.cronSpec.description).toBe('When it is run.');
  });

  it('are described to the last digit, in every form of the description', async () => {
    const group = 'digits.example.com';
    const definition = aDefinition(group, ({ spec }) => {
      const serial = { type: 'integer', format: 'int64', default: 9007199254740993n };
      spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.serial = serial;
    });
    expect((await server.call('POST', DEFINITIONS, stringifyJson(definition))).status).toBe(201);
    const described = await server.call('GET', `/openapi/v3/apis/${group}/v1`);
    expect(described.status).toBe(200);
    expect(described.text).toContain('"default":9007199254740993');
    for (const accept of ['application/json', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'])
      expect((await server.call('GET', '/openapi/v2', undefined, { accept })).status).toBe(200);
  });

  it('are refused in the words of their schema', async () => {
    const group = 'refused.example.com';
    const path = await defined(group);
    const answer = await server.call('POST', path, aCronTab(group, 'a', { cronSpec: 5, replicas: 11 }));
    expect(answer.body).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(answer.body.message).toBe(
      'CronTab.refused.example.com "a" is invalid: [spec.cronSpec: Invalid value: "integer": spec.cronSpec in body must be of type string: "integer", spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10]',
    );
    const strict = await server.call(
      'POST',
      `${path}?fieldValidation=Strict`,
      aCronTab(group, 'a', { odd: true }),
    );
    expect(strict.body.message).toContain('strict decoding error: unknown field "spec.odd"');
  });

  it('keep what a later rule refuses, with a warning, until it is changed', async () => {
    const group = 'kept.example.com';
    const path = await defined(group);
    expect((await server.call('POST', path, aCronTab(group, 'a'))).status).toBe(201);
    const { body: definition } = await server.call('GET', `${DEFINITIONS}/crontabs.${group}`);
    const rules = [{ rule: 'self.cronSpec.size() <= 3', message: 'too long' }];
    definition.spec.versions[0].schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'] = rules;
    expect((await server.call('PUT', `${DEFINITIONS}/crontabs.${group}`, definition)).status).toBe(200);
    const labelled = await server.call('PATCH', `${path}/a`, { metadata: { labels: { a: 'b' } } }, MERGE);
    expect([labelled.status, labelled.headers.get('warning')]).toEqual([
      200,
      '299 - "spec: Invalid value: too long"',
    ]);
    const changed = await server.call('PATCH', `${path}/a`, { spec: { replicas: 2 } }, MERGE);
    expect([changed.status, changed.body.message]).toEqual([
      422,
      'CronTab.kept.example.com "a" is invalid: spec: Invalid value: too long',
    ]);
  });

  it('are judged by the rules of their schema, which a definition may not have wrong', async () => {
    const group = 'ruled.example.com';
    const withRules = (rules: Body[]) => (definition: Body) => {
      const { spec } = definition.spec.versions[0].schema.openAPIV3Schema.properties;
      spec['x-kubernetes-validations'] = rules;
      spec.properties.zone = { type: 'string', default: '' };
    };
    const wrong = aDefinition(group, withRules([{ rule: 'self.nope > 1' }]));
    const refused = await server.call('POST', DEFINITIONS, wrong);
    expect(refused.status).toBe(422);
    expect(refused.body.details.causes[0].field).toBe(
      'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
    );
    expect(refused.body.message).toContain("undefined field 'nope'");
    const path = await defined(
      group,
      withRules([
        { rule: 'self.zone == "" ? self.replicas < 5 : true', message: 'five need a zone' },
        { rule: 'self.cronSpec == oldSelf.cronSpec', message: 'fixed', fieldPath: '.cronSpec' },
      ]),
    );
    const many = await server.call('POST', path, aCronTab(group, 'a', { replicas: 5 }));
    expect(many.body.message).toBe(
      'CronTab.ruled.example.com "a" is invalid: spec: Invalid value: five need a zone',
    );
    const created = await server.call('POST', path, aCronTab(group, 'a', { replicas: 4 }));
    expect(created.body.spec.zone).toBe('');
    const moved = await server.call('PATCH', `${path}/a`, { spec: { cronSpec: '1 2 3 4 5' } }, MERGE);
    expect(moved.body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.cronSpec', message: 'Invalid value: fixed' },
    ]);
    const scaled = await server.call('PATCH', `${path}/a/scale`, { spec: { replicas: 5 } }, MERGE);
    expect(scaled.status).toBe(422);
  });

  it('are not defined with rules that may cost too much in the largest objects', async () => {
    const group = 'costly.example.com';
    const withNames = (bounds: Body) => (definition: Body) => {
      const { spec } = definition.spec.versions[0].schema.openAPIV3Schema.properties;
      spec.properties.names = { type: 'array', items: { type: 'string' }, ...bounds };
      spec['x-kubernetes-validations'] = [
        { rule: '!has(self.names) || self.names.all(a, self.names.exists_one(b, a == b))' },
      ];
    };
    const refused = await server.call('POST', DEFINITIONS, aDefinition(group, withNames({})));
    const rule =
      'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost';
    const advice =
      '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain(`${rule} exceeds budget by factor of more than 100x ${advice}`);
    expect(refused.body.message).toContain(
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget',
    );
    await defined(group, withNames({ maxItems: 16, items: { type: 'string', maxLength: 63 } }));
  });

  it('are patched, except by strategic merges, and applied with an owner for each field', async () => {
    const group = 'patched.example.com';
    const path = await defined(group);
    const ports = [{ port: 80, name: 'web' }];
    const applied = await server.call(
      'PATCH',
      `${path}/a?fieldManager=one`,
      aCronTab(group, 'a', { ports }),
      APPLY,
    );
    expect(applied.status).toBe(201);
    const other = { ...aCronTab(group, 'a'), spec: { ports: [{ port: 443, name: 'tls' }] } };
    const second = await server.call('PATCH', `${path}/a?fieldManager=two`, other, APPLY);
    expect(second.body.spec.ports.map(({ port }: Body) => port)).toEqual([80, 443]);
    const taken = { ...aCronTab(group, 'a'), spec: { ports: [{ port: 80, name: 'mine' }] } };
    expect((await server.call('PATCH', `${path}/a?fieldManager=three`, taken, APPLY)).status).toBe(409);
    const merged = await server.call('PATCH', `${path}/a`, { spec: { replicas: 3 } }, MERGE);
    expect(merged.body).toMatchObject({ spec: { replicas: 3 }, metadata: { generation: 3 } });
    expect((await server.call('PATCH', `${path}/a`, { spec: { replicas: 4 } }, STRATEGIC)).status).toBe(415);
  });

  it('keep their status apart, and show themselves as a Scale', async () => {
    const group = 'parts.example.com';
    const path = await defined(group);
    const created = await server.call('POST', path, { ...aCronTab(group, 'a'), status: { replicas: 9 } });
    expect(created.body.status).toBeUndefined();
    const change = { spec: { replicas: 5 }, status: { replicas: 2, selector: 'a=b' } };
    const status = await server.call('PATCH', `${path}/a/status`, change, MERGE);
    expect(status.body).toMatchObject({
      spec: { replicas: 1 },
      status: { replicas: 2 },
      metadata: { generation: 1 },
    });
    const scale = await server.call('PATCH', `${path}/a/scale`, { spec: { replicas: 4 } }, MERGE);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 4 },
      status: { replicas: 2, selector: 'a=b' },
    });
  });

  it('are the same objects in every version', async () => {
    const group = 'versions.example.com';
    const path = await defined(group, ({ spec }) =>
      spec.versions.push({ ...spec.versions[0], name: 'v2', storage: false }),
    );
    await server.call('POST', path, aCronTab(group, 'a'));
    const other = await server.call('GET', `${pathOf(group, 'v2')}/a`);
    expect(other.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { replicas: 1 } });
    const list = await server.call('GET', pathOf(group, 'v2'));
    expect(list.body).toMatchObject({ apiVersion: `${group}/v2`, kind: 'CronTabList' });
  });

  it('go with their definition, which waits for those that somebody keeps', async () => {
    const group = 'deleted.example.com';
    const path = await defined(group);
    const kept = aCronTab(group, 'kept');
    kept.metadata.finalizers = ['example.com/keep'];
    await server.call('POST', path, kept);
    await server.call('POST', path, aCronTab(group, 'a'));
    const definition = `${DEFINITIONS}/crontabs.${group}`;
    const deleted = await server.call('DELETE', definition);
    expect(deleted.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    expect((await server.call('POST', path, aCronTab(group, 'late'))).status).toBe(405);
    await waitFor(async () => (await server.call('GET', `${path}/a`)).status === 404);
    await waitFor(
      async () => (await server.call('GET', `${path}/kept`)).body.metadata.deletionTimestamp !== undefined,
    );
    expect((await server.call('GET', definition)).status).toBe(200);
    await server.call('PATCH', `${path}/kept`, { metadata: { finalizers: null } }, MERGE);
    await waitFor(async () => (await server.call('GET', definition)).status === 404);
    expect((await server.call('GET', path)).status).toBe(404);
    expect((await server.call('GET', `/apis/${group}`)).status).toBe(404);
  });

  it('may have finalizers of any name; who adds one without a domain and a path is warned, once', async () => {
    const group = 'finalized.example.com';
    const path = await defined(group);
    const named = (...finalizers: string[]): Body => ({ metadata: { finalizers } });
    const warning = (name: string): string =>
      `299 - "metadata.finalizers: \\"${name}\\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"`;
    const object = aCronTab(group, 'a');
    object.metadata.finalizers = ['resources-finalizer.argocd.argoproj.io', 'example.com/keep', 'orphan'];
    const created = await server.call('POST', path, object);
    expect(created.status).toBe(201);
    expect(created.headers.get('warning')).toBe(warning('resources-finalizer.argocd.argoproj.io'));
    const same = await server.call('PATCH', `${path}/a`, { spec: { replicas: 2 } }, MERGE);
    expect([same.status, same.headers.get('warning')]).toEqual([200, null]);
    const mine = await server.call('PATCH', `${path}/a`, named('mine'), MERGE);
    expect([mine.status, mine.headers.get('warning')]).toEqual([200, warning('mine')]);
    const bad = await server.call('PATCH', `${path}/a`, named('no name'), MERGE);
    expect([bad.status, bad.body.details.causes[0].field]).toEqual([422, 'metadata.finalizers']);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: group, ...named('mine').metadata } };
    const refused = await server.call('POST', '/api/v1/namespaces/default/configmaps', map);
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, 'metadata.finalizers[0]']);
  });

  it('keep an empty object apart from none, whichever way it is written', async () => {
    const group = 'empty.example.com';
    const path = await defined(group, ({ spec }) => {
      const { properties } = spec.versions[0].schema.openAPIV3Schema;
      properties.spec.properties.open = { type: 'object' };
    });
    await server.call('POST', path, aCronTab(group, 'a'));
    const patch = (open: object | null) => server.call('PATCH', `${path}/a`, { spec: { open } }, MERGE);
    const read = async (): Promise<unknown[]> => {
      const { spec, metadata } = (await server.call('GET', `${path}/a`)).body;
      return [spec.open, metadata.generation];
    };
    await patch({});
    expect(await read()).toEqual([{}, 2]);
    await patch(null);
    expect(await read()).toEqual([undefined, 3]);
    const { body } = await server.call('GET', `${path}/a`);
    await server.call('PUT', `${path}/a`, { ...body, spec: { ...body.spec, open: {} } });
    expect(await read()).toEqual([{}, 4]);
    await patch({});
    expect(await read(), 'nothing to write').toEqual([{}, 4]);
    const report = (status: object) => server.call('PATCH', `${path}/a/status`, { status }, MERGE);
    await report({ replicas: 1, open: {} });
    expect((await report({ open: null })).body.status).toEqual({ replicas: 1 });
    expect((await server.call('GET', `${path}/a`)).body.status).toEqual({ replicas: 1 });
  });

  it('stay as they were when the status of another definition takes their kind', async () => {
    const group = 'rivals.example.com';
    const path = await defined(group);
    await server.call('POST', path, aCronTab(group, 'a'));
    const rival = aDefinition(group, ({ metadata, spec }) => {
      metadata.name = `rivals.${group}`;
      spec.names = { plural: 'rivals', kind: 'CronTab' };
    });
    await server.call('POST', DEFINITIONS, rival);
    const condition = { type: 'Established', status: 'True', reason: 'Forged', message: '', lastTransitionTime: null };
    const acceptedNames = { plural: 'rivals', kind: 'CronTab', listKind: 'CronTabList', singular: 'rival' };
    const status = { acceptedNames, conditions: [condition], storedVersions: ['v1'] };
    const forged = await server.call('PATCH', `${DEFINITIONS}/rivals.${group}/status`, { status }, MERGE);
    expect(forged.status).toBe(200);
    const write = async (replicas: number): Promise<number> =>
      (await server.call('PATCH', `${path}/a`, { spec: { replicas } }, MERGE)).status;
    expect(await write(2)).toBe(200);
    await server.call('DELETE', `${DEFINITIONS}/rivals.${group}`);
    expect(await write(3)).toBe(200);
    expect(await write(99), 'by its own schema').toBe(422);
  }); // prettier-ignore

  it('wait for their names while another definition of the group has them', async () => {
    const group = 'names.example.com';
    await defined(group);
    const rival = aDefinition(group, ({ metadata, spec }) => {
      metadata.name = `rivals.${group}`;
      spec.names = { plural: 'rivals', kind: 'CronTab' };
    });
    await server.call('POST', DEFINITIONS, rival);
    const established = async (): Promise<string> => {
      const { body } = await server.call('GET', `${DEFINITIONS}/rivals.${group}`);
      return body.status.conditions.find(({ type }: Body) => type === 'Established').status;
    };
    expect(await established()).toBe('False');
    await server.call('DELETE', `${DEFINITIONS}/crontabs.${group}`);
    await waitFor(async () => (await established()) === 'True');
  });
});

describe('custom resources on Redis', () => {
  const group = 'shared.example.com';
  const aStorage = (keyPrefix: string) => new RedisStorage({ url: inject('redisUrl'), keyPrefix });

  it('are served by another server on the same store, and again after a restart', async () => {
    const prefix = `api-${randomUUID()}:`;
    const one = await startApiServer({ storage: aStorage(prefix) });
    const two = await startApiServer({ storage: aStorage(prefix) });
    await one.call('POST', DEFINITIONS, aDefinition(group));
    expect((await two.call('POST', pathOf(group), aCronTab(group, 'a'))).status).toBe(201);
    expect((await one.call('GET', `${pathOf(group)}/a`)).status).toBe(200);
    await Promise.all([one.stop(), two.stop()]);

    const third = await startApiServer({ storage: aStorage(prefix) });
    expect((await third.call('GET', '/apis/shared.example.com/v1')).status).toBe(200);
    expect((await third.call('GET', `${pathOf(group)}/a`)).body.spec.replicas).toBe(1);
    await third.stop();
  });
});

describe('custom resources with real kubectl', () => {
  const group = 'kubectl.example.com';
  let server: RunningApiServer;
  beforeAll(async () => {
    server = await startApiServer({ tls: true });
  });
  afterAll(() => server.stop());

  function kubectl(...args: string[]): Promise<{ code: number; output: string }> {
    const env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir };
    return new Promise((resolve) => {
      execFile(process.env['KUBECTL'] ?? 'kubectl', args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
      );
    });
  }

  it('live a whole life', async () => {
    const definition = join(server.dir, 'definition.json');
    const object = join(server.dir, 'object.json');
    await writeFile(definition, JSON.stringify(aDefinition(group)));
    await writeFile(object, JSON.stringify(aCronTab(group, 'mine')));
    const crd = `crd/crontabs.${group}`;
    const steps: readonly [string[], RegExp][] = [
      [['apply', '-f', definition], /crontabs\.kubectl\.example\.com created/],
      [['wait', '--for=condition=Established', crd, '--timeout=30s'], /condition met/],
      [['apply', '-f', object], /crontab\.kubectl\.example\.com\/mine created/],
      [['get', 'ct'], /NAME\s+SPEC\s+REPLICAS\s+mine\s+\* \* \* \* \*\/5\s+1/],
      [['explain', 'crontab.spec.cronSpec'], /When it is run\./],
      [['scale', 'crontab/mine', '--replicas=3'], /scaled/],
      [['get', 'crontab', 'mine', '-o', 'jsonpath={.spec.replicas}'], /^3$/],
      [['apply', '--server-side', '--force-conflicts', '-f', object], /serverside-applied/],
      [['label', 'crontab', 'mine', 'a=b'], /labeled/],
      [['get', 'all'], /crontab\.kubectl\.example\.com\/mine/],
      [['delete', crd, '--timeout=30s'], /deleted/],
    ];
    for (const [args, expected] of steps) {
      const outcome = await kubectl(...args);
      expect({ args, ...outcome }).toMatchObject({ args, code: 0, output: expect.stringMatching(expected) });
    }
    expect((await kubectl('get', 'crontabs')).code).not.toBe(0);
  }, 180_000);
});
