import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN, startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

const CORE = '/api/v1/namespaces/default';
const VIEWER = { authorization: 'Bearer viewers-token' };

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer({ users: [{ token: 'viewers-token', username: 'viewer' }] });
  const containers = [{ name: 'c', image: 'i' }];
  await api.call('POST', `${CORE}/pods`, { metadata: { name: 'p' }, spec: { containers } });
  await api.call('POST', `${CORE}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
  await api.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  // May do everything in a namespace that is not this one.
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'own' } });
  await api.call('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/own/rolebindings', {
    metadata: { name: 'admin' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'viewer' }],
  });
});
afterAll(() => api.stop());

describe('a Binding sent to the collection', () => {
  const binding = (name: string) => ({ metadata: { name }, target: { kind: 'Node', name: 'n' } });

  it('is refused without the right to it', async () => {
    const { status, body } = await api.call('POST', `${CORE}/bindings`, binding('p'), VIEWER);
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('cannot create resource "bindings"'),
    ]);
  });

  it('puts the pod of its name on a node, once', async () => {
    expect((await api.call('POST', `${CORE}/bindings`, binding('p'))).status).toBe(201);
    expect((await api.call('GET', `${CORE}/pods/p`)).body.spec.nodeName).toBe('n');
    expect((await api.call('POST', `${CORE}/bindings`, binding('p'))).status).toBe(409);
    expect((await api.call('POST', `${CORE}/bindings`, binding('nosuch'))).status).toBe(404);
  });

  it('cannot be read', async () => {
    expect((await api.call('GET', `${CORE}/bindings`)).status).toBe(405);
    expect((await api.call('POST', '/api/v1/bindings', binding('p'))).status).toBe(404);
  });
});

describe('component statuses', () => {
  it('are listed, with a warning', async () => {
    const { body, headers } = await api.call('GET', '/api/v1/componentstatuses');
    expect(body.kind).toBe('ComponentStatusList');
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'controller-manager',
      'scheduler',
      'etcd-0',
    ]);
    expect(headers.get('warning')).toContain('v1 ComponentStatus is deprecated in v1.19+');
  });

  it('say how the store is, one by one and as a table', async () => {
    const path = '/api/v1/componentstatuses/etcd-0';
    expect((await api.call('GET', path)).body.conditions).toEqual([
      { type: 'Healthy', status: 'True', message: 'ok' },
    ]);
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    expect((await api.call('GET', path, undefined, { accept })).body.rows[0].cells).toEqual([
      ...['etcd-0', 'Healthy', 'ok', ''],
    ]);
    expect((await api.call('GET', '/api/v1/componentstatuses/nosuch')).status).toBe(404);
  });

  it('can neither be watched nor changed nor, without a right, be read', async () => {
    expect((await api.call('GET', '/api/v1/componentstatuses?watch=true')).status).toBe(405);
    expect((await api.call('POST', '/api/v1/componentstatuses', {})).status).toBe(405);
    expect((await api.call('GET', '/api/v1/componentstatuses', undefined, VIEWER)).status).toBe(403);
  });
});

describe('a proxy', () => {
  it.each([
    ['GET', `${CORE}/pods/p/proxy`],
    ['POST', `${CORE}/pods/p:8080/proxy/some/path`],
    ['PUT', `${CORE}/services/https:s:443/proxy/`],
    ['DELETE', '/api/v1/nodes/n/proxy/pods'],
  ])('is refused honestly: %s %s', async (method, path) => {
    const { body, status } = await api.call(method, path);
    expect(status).toBe(503);
    expect(body.message).toMatch(/^error trying to reach service: nothing runs on the nodes of this server/);
  });

  it('is not found if its target is not there', async () => {
    const { body, status } = await api.call('GET', `${CORE}/services/nosuch:80/proxy`);
    expect([status, body.message]).toEqual([404, 'services "nosuch" not found']);
  });

  it('needs the right to the subresource, in that namespace', async () => {
    expect((await api.call('GET', `${CORE}/services/s/proxy`, undefined, VIEWER)).status).toBe(403);
    expect((await api.call('GET', '/api/v1/namespaces/own/services/s/proxy', undefined, VIEWER)).status).toBe(
      404,
    );
  });
});

describe('a watch of old', () => {
  it('begins with what there is, in the namespace and of the name in its path', async () => {
    const response = await fetch(`${api.url}/api/v1/watch/namespaces/default/pods/p?timeoutSeconds=1`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const [first] = (await response.text()).split('\n');
    expect(JSON.parse(first!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'p' } } });
  });

  it('needs the right to watch', async () => {
    const { status, body } = await api.call(
      'GET',
      '/api/v1/watch/namespaces/default/pods',
      undefined,
      VIEWER,
    );
    expect([status, body.message]).toEqual([403, expect.stringContaining('cannot watch resource "pods"')]);
  });
});
