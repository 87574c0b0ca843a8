import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const NAMESPACE = '/api/v1/namespaces/default';
const APPS = '/apis/apps/v1/namespaces/default';
const POD = { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const SELECTOR = { matchLabels: { a: 'b' } };
const TEMPLATE = { metadata: { labels: { a: 'b' } }, spec: POD.spec };

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
  await api.call('POST', `${NAMESPACE}/pods`, POD);
  const deployment = { metadata: { name: 'web' }, spec: { selector: SELECTOR, template: TEMPLATE } };
  await api.call('POST', `${APPS}/deployments`, deployment);
});
afterAll(() => api.stop());

/** Code and message. */
async function answer(...request: Parameters<RunningApiServer['call']>): Promise<[number, string]> {
  const { body, status } = await api.call(...request);
  return [status, body?.message];
}

describe('the type that a body names', () => {
  it('is refused before its fields are read, and nothing is warned of', async () => {
    const body = { apiVersion: 'apps/v1', kind: 'Scale', metadata: { name: 'web' }, spec: { bogus: 1 } };
    const sent = await api.call('PUT', `${APPS}/deployments/web/scale?fieldValidation=Warn`, body);
    expect(sent.body.message).toBe(
      'Scale in version "v1" cannot be handled as a Scale: no kind "Scale" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    );
    expect(sent.headers.get('warning')).toBeNull();
  });
});

describe('an eviction', () => {
  const evict = (name: string, deleteOptions: object, query = '') =>
    answer('POST', `${NAMESPACE}/pods/web/eviction${query}`, { metadata: { name }, deleteOptions });

  it('is refused before its options are looked at if it is of another pod', async () => {
    expect(await evict('other', { dryRun: ['Some'] })).toEqual([
      400,
      'name in URL does not match name in Eviction object',
    ]);
  });

  it('says in one way whether it is only tried', async () => {
    expect(await evict('web', { dryRun: ['Some'] }, '?dryRun=All')).toEqual([
      500,
      'Non-matching dry-run options in request and content: [All] and [Some]',
    ]);
    expect((await evict('web', { dryRun: ['All'], propagationPolicy: 'Nope' }))[0]).toBe(201);
    expect((await api.call('GET', `${NAMESPACE}/pods/web`)).status).toBe(200);
  });
});

describe('a patch', () => {
  const patch = (operations: unknown, query = '') =>
    api.call('PATCH', `${NAMESPACE}/pods/web?dryRun=All${query}`, operations, {
      'content-type': 'application/json-patch+json',
    });
  const WITHOUT_VERSION = [{ op: 'remove', path: '/apiVersion' }];

  it('leaves nothing that could be read if it takes the API version away', async () => {
    const { body, headers } = await patch(WITHOUT_VERSION);
    expect(body.message).toContain('was undeterminable: name must be provided');
    expect(headers.get('warning')).toContain('unknown field \\"spec\\"');
    const { body: strict } = await patch(WITHOUT_VERSION, '&fieldValidation=Strict');
    expect(strict.message).toMatch(/: strict decoding error: unknown field "metadata", unknown field "spec"/);
  });

  it('is refused for the first wrong value of the document that it makes', async () => {
    const wrong = ['image', 'args'].map((name) => ({
      ...{ op: 'add', path: `/spec/containers/0/${name}`, value: name === 'args' ? [2] : 2 },
    }));
    expect((await patch(wrong)).body.message).toMatch(/Container\.spec\.containers\.args of type string$/);
  });

  it('is shown in its refusal as it was sent', async () => {
    const sent = { metadata: { labels: { a: null } }, spec: 'x' };
    const { body } = await api.call('PATCH', `${NAMESPACE}/pods/web`, sent, {
      'content-type': 'application/strategic-merge-patch+json',
    });
    expect(body.message).toContain('"map[metadata:map[labels:map[a:<nil>]] spec:x]"');
  });
});

describe('dry runs', () => {
  const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const word = { type: 'string', default: 'new' };
  const status = { type: 'object', default: {}, properties: { word } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { status } } };
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema };
  const definition = {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [version],
    },
  };

  it('has the defaults of its status as if it had been stored', async () => {
    await api.call('POST', DEFINITIONS, definition);
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
    const path = '/apis/example.com/v1/namespaces/default/things';
    const tried = await api.call('POST', `${path}?dryRun=All`, thing);
    const stored = await api.call('POST', path, thing);
    expect([tried.body.status, stored.body.status]).toEqual([{ word: 'new' }, { word: 'new' }]);
  });

  it('is accepted for later if its dependents are to go, and it stays', async () => {
    const path = `${DEFINITIONS}/things.example.com?dryRun=All`;
    const codes = [
      (await api.call('DELETE', `${path}&orphanDependents=false`)).status,
      (await api.call('DELETE', path)).status,
    ];
    expect(codes).toEqual([202, 200]);
  });
});

describe('a pod', () => {
  it('without a node has no log', async () => {
    const { status, text } = await api.call('GET', `${NAMESPACE}/pods/web/log`);
    expect([status, text]).toEqual([204, '']);
  });

  it('has a struct that was asked for, even if nothing is in it', async () => {
    const template = { ...TEMPLATE, spec: { ...POD.spec, affinity: { nodeAffinity: {} } } };
    const set = { metadata: { name: 'web' }, spec: { selector: SELECTOR, template: TEMPLATE } };
    const { body } = await api.call('POST', `${APPS}/daemonsets`, set);
    const updated = await api.call('PUT', `${APPS}/daemonsets/web`, {
      ...set,
      metadata: { ...set.metadata, resourceVersion: body.metadata.resourceVersion },
      spec: { ...set.spec, template },
    });
    expect(updated.body.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '2' });
    expect(updated.body.spec.template.spec.affinity).toEqual({ nodeAffinity: {} });
  });
});
