import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { Deployment, Event, Node, Pod } from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import type { AskingOne } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import type { RunningApiServer } from './api-server-harness.js';
import { TOKEN, startApiServer } from './api-server-harness.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const USERS = [
  { token: 'annas-token', username: 'anna' },
  { token: 'readers-token', username: 'reader' },
] as const;

const container = { name: 'web', image: 'web:1' };

function aDeployment(name: string, namespace = 'shop') {
  const labels = { app: name };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

describe('acts of people', () => {
  let api: RunningApiServer;
  let server: AdminServer;
  let replica: HttpApiClient;
  const clients: HttpApiClient[] = [];
  const logged: unknown[] = [];

  const clientAs = ({ token = '' }: AskingOne): HttpApiClient => {
    const client = createHttpApiClient({
      connection: { serverUrl: api.url, tls: {}, credentials: bearerToken(token), source: 'test' },
      userAgent: 'test',
      clock: new SystemClock(),
      logger: silentLogger,
    });
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    api = await startApiServer({ users: USERS });
    for (const namespace of ['shop', 'other'])
      await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await api.call('POST', `${RBAC}/namespaces/shop/roles`, { metadata: { name: 'admin' }, rules: all });
    await api.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
      metadata: { name: 'anna' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'admin' },
      subjects: [{ kind: 'User', name: 'anna', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const read = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }];
    await api.call('POST', `${RBAC}/clusterroles`, { metadata: { name: 'reads' }, rules: read });
    await api.call('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reads' },
      subjects: [{ kind: 'User', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    replica = clientAs({ token: TOKEN });
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await api.stop();
  });

  beforeEach(async () => {
    logged.length = 0;
    const logger = {
      ...silentLogger,
      info: (text: string, fields?: unknown) => void logged.push([text, fields]),
    };
    const ports = anAdminPorts({
      logger,
      client: replica,
      clientAs,
      delegated: {
        judge: async ({ token }) => {
          const user = USERS.find((each) => each.token === token);
          return user ? { verdict: 'allowed', user: user.username } : { verdict: 'unauthenticated' };
        },
      },
    });
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    server = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close());

  const act = async (path: string, body: object, token?: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}/admin/objects/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const create = async (name: string, namespace = 'shop'): Promise<void> =>
    void (await api.call(
      'POST',
      `/apis/apps/v1/namespaces/${namespace}/deployments`,
      aDeployment(name, namespace),
    ));
  const read = (name: string) => replica.get<Deployment>(Deployment, { namespace: 'shop', name });

  it('scale with the rights of the user, and leave an Event and a line in the log with who and why', async () => {
    await create('scaled');
    const done = await act('deployments/shop/scaled/scale', { replicas: 5, reason: 'sale' }, 'annas-token');
    expect(done).toEqual({
      status: 200,
      body: {
        changes: [{ field: 'replicas', from: '2', to: '5' }],
        said: 'scaled from 2 to 5',
        notes: [],
      },
    });
    expect((await read('scaled')).spec.replicas).toBe(5);
    const { items } = await replica.list(Event, { namespace: 'shop' });
    expect(items).toMatchObject([{ reason: 'ScaledByHand', message: 'anna (sale): scaled from 2 to 5' }]);
    expect(logged).toContainEqual([
      'a person acted',
      expect.objectContaining({ verb: 'scale', name: 'scaled', by: 'anna', user: 'anna', reason: 'sale' }),
    ]);
  });

  it('only look where a dry run is asked for', async () => {
    await create('looked-at');
    const path = 'deployments/shop/looked-at/set-image?dryRun=true';
    const { body } = await act(path, { image: 'web:2' }, 'annas-token');
    expect(body).toEqual({ changes: [{ field: 'image of web', from: 'web:1', to: 'web:2' }], notes: [] });
    expect((await read('looked-at')).spec.template.spec?.containers[0]?.image).toBe('web:1');
  });

  it('set an image, restart, pause and resume, each kept in the history of the template', async () => {
    await create('changed');
    const at = (verb: string) => `deployments/shop/changed/${verb}`;
    const why = { by: 'bert', reason: 'fix' };
    expect((await act(at('set-image'), { image: 'web:2', ...why }, ADMIN_TOKEN)).status).toBe(200);
    const { metadata, spec } = await read('changed');
    expect(spec.template.spec?.containers[0]?.image).toBe('web:2');
    expect(metadata.annotations).toMatchObject({ 'kubernetes.io/change-cause': 'fix' });
    expect(metadata.annotations?.['rollkeeper.dev/change']).toContain('"by":"bert"');
    expect((await act(at('pause'), {}, 'annas-token')).body['said']).toMatch(/^paused/);
    expect(await act(at('pause'), {}, 'annas-token')).toEqual({
      status: 409,
      body: { error: 'it is already paused' },
    });
    expect((await act(at('resume'), {}, 'annas-token')).status).toBe(200);
    expect((await act(at('restart'), {}, 'annas-token')).status).toBe(200);
    const after = await read('changed');
    expect(after.spec.template.metadata?.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt']);
  });

  it('evict and drain by the API, so that budgets count, and name what stays', async () => {
    await api.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    for (const name of ['free', 'held'])
      await api.call('POST', '/api/v1/namespaces/shop/pods', {
        metadata: { name, labels: { app: name } },
        spec: { nodeName: 'n1', containers: [container] },
      });
    await api.call(
      'PATCH',
      '/api/v1/namespaces/shop/pods/held/status',
      {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      },
      { 'content-type': 'application/merge-patch+json' },
    );
    await api.call('POST', '/apis/policy/v1/namespaces/shop/poddisruptionbudgets', {
      metadata: { name: 'held' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'held' } } },
    });
    const kept = await act('pods/shop/held/evict', {}, 'annas-token');
    expect(kept.status).toBe(429);
    const drained = await act('nodes/n1/drain', { by: 'root' }, ADMIN_TOKEN);
    expect(drained.body['said']).toMatch(/^1 of 2 pods evicted; kept: shop\/held: /);
    expect((await replica.get<Node>(Node, { name: 'n1' })).spec?.unschedulable).toBe(true);
    const left = (await replica.list<Pod>(Pod, { namespace: 'shop' })).items.filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['held']);
    expect((await act('nodes/n1/uncordon', { by: 'root' }, ADMIN_TOKEN)).status).toBe(200);
    const { items } = await replica.list(Event, { namespace: 'default' });
    expect(items.filter(({ reason }) => reason === 'UncordonedByHand')).toMatchObject([
      { message: expect.stringMatching(/^claimed by root: /) },
    ]);
  });

  it('are refused to those who may only read, by the API itself', async () => {
    await create('kept');
    const before = await read('kept');
    const tries: readonly (readonly [string, object])[] = [
      ['deployments/shop/kept/scale', { replicas: 0 }],
      ['deployments/shop/kept/set-image', { image: 'evil:1' }],
      ['deployments/shop/kept/restart', {}],
      ['deployments/shop/kept/pause', {}],
      ['pods/shop/held/evict', {}],
      ['nodes/n1/cordon', {}],
      ['nodes/n1/drain', {}],
    ];
    for (const [path, body] of tries)
      expect([path, (await act(path, body, 'readers-token')).status]).toEqual([path, 403]);
    await create('foreign', 'other');
    expect((await act('deployments/other/foreign/scale', { replicas: 0 }, 'annas-token')).status).toBe(403);
    expect((await read('kept')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('need a token, the own site, the own name and a body that makes sense', async () => {
    await create('strict');
    const path = 'deployments/shop/strict/scale';
    expect((await act(path, { replicas: 1, by: 'x' })).status).toBe(401);
    expect((await act(path, { replicas: 1 }, 'annas-token', { origin: 'https://evil.example' })).status).toBe(
      403,
    );
    expect((await act(path, { replicas: 1, by: 'root' }, 'annas-token')).body['error']).toContain(
      'you are anna',
    );
    expect((await act(path, { replicas: -1 }, 'annas-token')).status).toBe(400);
    expect((await act(path, { replicas: 1, more: true }, 'annas-token')).status).toBe(400);
    expect((await act(path, { replicas: 1 }, ADMIN_TOKEN)).body['error']).toBe('"by" says who asks');
    expect((await act('secrets/shop/x/scale', { replicas: 1 }, 'annas-token')).status).toBe(404);
    expect((await act('deployments/shop/strict/delete', {}, 'annas-token')).status).toBe(404);
    expect((await act('nodes/shop/n1/drain', {}, 'annas-token')).status).toBe(404);
    expect((await read('strict')).spec.replicas).toBe(2);
  });
});
