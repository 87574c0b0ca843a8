import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  newControllerRef,
} from '../../src/machinery/kubernetes/index.js';
import { MemoryWorkQueue } from '../../src/runtime/work-queue/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { OPENAPI_DOCUMENT } from '../../src/rollkeeper/admin/server/openapi-document.js';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

describe('the admin API', () => {
  let server: AdminServer;
  let ports: AdminPorts & { readonly clock: { advance(ms: number): Promise<void> } };

  const start = async (overrides: Parameters<typeof anAdminPorts>[0] = {}): Promise<void> => {
    ports = anAdminPorts(overrides);
    const module = AdminModule.forRoot({
      health: new HealthRegistry(),
      metrics: createMetrics(),
      status: ports.status,
      ports,
    });
    server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
  };

  beforeEach(() => start());
  afterEach(() => server.close());

  /** Past fetch, which forbids some of these headers and tidies up paths. */
  const send = (
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = httpRequest(
        { hostname, port, method, path, headers: { ...json, ...headers } },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const withToken = (token = ADMIN_TOKEN) => ({ authorization: `Bearer ${token}` });
  const parsed = (answer: Answer): unknown => JSON.parse(answer.body) as unknown;

  describe('access by role', () => {
    const CHANGES: readonly [method: string, path: string, body?: unknown][] = [
      ['PUT', '/admin/log-level', { level: 'debug' }],
      ['POST', '/admin/queues/deployment/requeue', { key: 'default/web' }],
      ['POST', '/admin/queues/deployment/park', { key: 'default/web' }],
      ['POST', '/admin/queues/deployment/unpark', { key: 'default/web' }],
      ['POST', '/admin/queues/deployment/purge', { key: 'default/web' }],
      ['POST', '/admin/rollouts/default/web/promote', { by: 'anna' }],
      ['POST', '/admin/rollouts/default/web/undo', { by: 'anna' }],
      ['POST', '/admin/debug/heap-snapshot'],
      ['POST', '/admin/debug/cpu-profile?seconds=1'],
      ['DELETE', '/admin/queues/deployment'],
      ['POST', '/console'],
      ['PUT', '/admin/bull-board/api/queues/deployment/clean/wait'],
      ['POST', '/metrics'],
    ];

    it.each(CHANGES)('refuses %s %s without a token, from this machine too', async (method, path, body) => {
      const answer = await send(method, path, { body });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('Bearer');
      expect(await ports.queues().get('deployment')?.counts()).toMatchObject({ waiting: 0, parked: 0 });
      expect(ports.logLevel.get()).toBe('info');
    });

    it.each(CHANGES)('refuses %s %s with a wrong token', async (method, path, body) => {
      for (const wrong of ['x', ADMIN_TOKEN.slice(0, -1), `${ADMIN_TOKEN}x`, ADMIN_TOKEN.toUpperCase(), ''])
        expect((await send(method, path, { body, headers: withToken(wrong) })).status).toBe(401);
    });

    it.each([
      ['a proxy on this machine', { 'x-forwarded-for': '10.0.0.9' }],
      ['a proxy that follows the standard', { forwarded: 'for=10.0.0.9' }],
      ['a page whose name was pointed here', { host: 'evil.example:80' }],
      ['a name that only begins like this machine', { host: 'localhost.evil.example' }],
    ])('reads nothing for %s', async (_who, headers) => {
      for (const path of [
        '/admin/config',
        '/admin/replicas',
        '/admin/queues',
        '/admin/events',
        '/admin/status',
      ])
        expect((await send('GET', path, { headers })).status).toBe(401);
      expect((await send('GET', '/admin/config', { headers: { ...headers, ...withToken() } })).status).toBe(
        200,
      );
    });

    it('answers no other site, with a token or without, and lets no other site read', async () => {
      const headers = { origin: 'http://evil.example' };
      expect((await send('GET', '/admin/config', { headers })).status).toBe(403);
      expect((await send('GET', '/admin/config', { headers: { ...headers, ...withToken() } })).status).toBe(
        403,
      );
      const own = await send('GET', '/admin/config', { headers: { origin: server.url } });
      expect(own.status).toBe(200);
      expect(own.headers['access-control-allow-origin']).toBeUndefined();
    });

    it('lets nobody change anything where there is no token', async () => {
      await server.close();
      await start({ token: undefined });
      for (const token of ['', 'undefined', 'null'])
        expect(
          (await send('PUT', '/admin/log-level', { body: { level: 'debug' }, headers: withToken(token) }))
            .status,
        ).toBe(403);
      expect(ports.logLevel.get()).toBe('info');
    });

    it('stops answering whoever guesses tokens, and still lets the right one in', async () => {
      const guess = () => send('GET', '/admin/config', { headers: withToken('guess') });
      for (let tries = 0; tries < 10; tries++) expect((await guess()).status).toBe(401);
      const locked = await guess();
      expect(locked.status).toBe(429);
      expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
      expect((await send('GET', '/admin/config', { headers: withToken() })).status).toBe(200);
      await ports.clock.advance(6000);
      expect((await guess()).status).toBe(401);
    });

    it('limits requests, and never the probes', async () => {
      let status = 200;
      for (let sent = 0; sent < 450 && status === 200; sent++)
        status = (await send('GET', '/admin/log-level')).status;
      expect(status).toBe(429);
      expect((await send('GET', '/livez')).status).toBe(200);
      await ports.clock.advance(1000);
      expect((await send('GET', '/admin/log-level')).status).toBe(200);
    });

    it.each([
      '/console/../package.json',
      '/console/..%2f..%2fpackage.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/..\\..\\package.json',
      '/console//etc/passwd',
      '/console/index.html%00.js',
      '/console/__proto__',
      '/admin/explain/deployments/..%2f..%2fetc/passwd',
      '/admin/queues/..%2f..%2fetc',
      '/admin/queues/__proto__',
    ])('gives no file and no answer for %s', async (path) => {
      const { body, status } = await send('GET', path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(body).not.toMatch(/root:|"dependencies"/);
    });

    it('sends headers that keep browsers from doing harm', async () => {
      const { headers } = await send('GET', '/console');
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('SAMEORIGIN');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['x-powered-by']).toBeUndefined();
    });

    it.each([
      ['no key', {}],
      ['a key that is no text', { key: { $gt: '' } }],
      ['a key with control characters', { key: 'a\u001b[2Jb' }],
      ['a key that is too long', { key: 'x'.repeat(1001) }],
    ])('refuses %s', async (_what, body) => {
      const answer = await send('POST', '/admin/queues/deployment/requeue', { body, headers: withToken() });
      expect(answer.status).toBe(400);
    });

    it('refuses a body that is too large', async () => {
      const body = { key: 'x'.repeat(1 << 20) };
      const answer = await send('POST', '/admin/queues/deployment/requeue', { body, headers: withToken() });
      expect(answer.status).toBe(413);
    });
  });

  describe('queues', () => {
    it('shows every key, and lets an operator park, take out, requeue and purge one', async () => {
      const queue = ports.queues().get('deployment');
      if (!(queue instanceof MemoryWorkQueue)) throw new Error('not the queue of the test ports');
      await queue.addAfter('default/later', 5000, { reason: 'requeue' });
      const running = ports.running.start('deployment', 'default/running');
      running.overdue();
      const act = (verb: string, body: unknown) =>
        send('POST', `/admin/queues/deployment/${verb}`, { body, headers: withToken() });
      expect(parsed(await act('park', { key: 'default/web', reason: 'being looked at' }))).toMatchObject({
        parked: { error: 'parked by hand: being looked at' },
      });
      const view = parsed(await send('GET', '/admin/queues/deployment'));
      expect(view).toMatchObject({
        counts: { waiting: 0, delayed: 1, parked: 1 },
        running: [{ key: 'default/running', replica: 'controller-0', overdueSinceMs: ports.clock.now() }],
        delayed: [{ key: 'default/later', reason: 'requeue' }],
        parked: [{ key: 'default/web' }],
      });
      running.end();
      expect(parsed(await act('unpark', { key: 'default/web' }))).toMatchObject({
        waiting: { priority: 'high' },
      });
      expect((await act('unpark', { key: 'default/web' })).status).toBe(404);
      expect(parsed(await act('requeue', { key: 'default/other' }))).toMatchObject({
        waiting: { reason: 'requeue' },
      });
      expect(parsed(await act('purge', { key: 'default/later' }))).not.toHaveProperty('delayed');
      expect((await act('purge', { key: 'default/later' })).status).toBe(404);
    });

    it('says so of a key that no object has and the queue does not know, and adds nothing', async () => {
      await server.close();
      await start({ hasObject: (_controller, key) => key === 'default/web' });
      const act = (verb: string, key: string) =>
        send('POST', `/admin/queues/deployment/${verb}`, { body: { key }, headers: withToken() });
      for (const verb of ['requeue', 'park', 'unpark', 'purge'])
        expect((await act(verb, 'default/typo')).status, verb).toBe(404);
      expect(parsed(await send('GET', '/admin/queues/deployment'))).toMatchObject({
        counts: { waiting: 0, parked: 0 },
      });
      expect((await act('requeue', 'default/web')).status).toBe(200);
      // A key that the queue knows may be requeued, even if its object is gone.
      await ports.queues().get('deployment')?.park('default/gone', new Error('no'));
      expect((await act('requeue', 'default/gone')).status).toBe(200);
    });

    it('knows no controller that does not run', async () => {
      expect((await send('GET', '/admin/queues/nothing')).status).toBe(404);
    });
  });

  describe('explanations', () => {
    it('explains a Deployment of the cache, with decisions', async () => {
      await server.close();
      const cluster = new FakeCluster();
      await start({ informers: new FakeInformers(cluster) });
      expect((await send('GET', '/admin/explain/deployments/default/web')).status).toBe(404);
      const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 0 });
      await cluster.create(Deployment, { apiVersion, kind, metadata, spec });
      ports.decisions.add({
        atMs: 1,
        controller: 'deployment',
        key: 'default/web',
        replica: 'controller-0',
        actions: ['create web-1'],
      });
      const answer = await send('GET', '/admin/explain/deployments/default/web');
      expect(answer.status).toBe(200);
      expect(parsed(answer)).toMatchObject({ name: 'web', lastDecisions: [{ actions: ['create web-1'] }] });
      expect(parsed(await send('GET', '/admin/deployments'))).toHaveLength(1);
    });

    it('tells no decisions about an earlier object of that name', async () => {
      await server.close();
      const cluster = new FakeCluster();
      await start({ informers: new FakeInformers(cluster) });
      const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 0 });
      const { uid } = (await cluster.create(Deployment, { apiVersion, kind, metadata, spec })).metadata;
      const decided = { controller: 'deployment', key: 'default/web', replica: 'controller-0' };
      ports.decisions.add({ ...decided, atMs: 1, uid: 'of-the-deleted-one', actions: ['create web-old'] });
      ports.decisions.add({ ...decided, atMs: 2, ...(uid && { uid }), actions: ['create web-1'] });
      const explained = parsed(await send('GET', '/admin/explain/deployments/default/web'));
      expect(explained).toMatchObject({ lastDecisions: [{ actions: ['create web-1'] }] });
      expect(explained).toHaveProperty('lastDecisions.length', 1);
    });

    it('tells integers that no double holds to the last digit', async () => {
      await server.close();
      const cluster = new FakeCluster();
      await start({ informers: new FakeInformers(cluster) });
      const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 1 });
      const deployment = await cluster.create(Deployment, { apiVersion, kind, metadata, spec });
      await cluster.create(ReplicaSet, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          namespace: 'default',
          name: 'web-1',
          labels: { app: 'web' },
          annotations: { 'deployment.kubernetes.io/revision': '3546343826724305833' },
          ownerReferences: [newControllerRef(deployment)],
        },
        spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: spec.template },
      });
      const answer = await send('GET', '/admin/explain/deployments/default/web');
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toContain('"revision":3546343826724305833');
    });

    it('knows when the namespace is being deleted', async () => {
      await server.close();
      const cluster = new FakeCluster(ports.clock);
      await start({ informers: new FakeInformers(cluster) });
      const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 1 });
      await cluster.create(Deployment, { apiVersion, kind, metadata, spec });
      const explained = async () => parsed(await send('GET', '/admin/explain/deployments/default/web'));
      expect(await explained()).toMatchObject({ state: 'progressing' });
      cluster.seed(Namespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default', deletionTimestamp: '2026-01-01T00:00:00Z' },
      });
      expect(await explained()).toMatchObject({ state: 'blocked', cause: 'namespace-terminating' });
    });

    it('calls nothing absent while a first list is under way, unless there will be none', async () => {
      await server.close();
      const informers = new FakeInformers(new FakeCluster());
      await start({ informers });
      const explained = async () => (await send('GET', '/admin/explain/deployments/default/web')).status;
      const listed = async () => (await send('GET', '/admin/deployments')).status;
      informers.refuse(Pod, { reason: 'no connection' });
      expect([await explained(), await listed()]).toEqual([503, 503]);
      informers.refuse(Pod, { reason: 'pods is forbidden', code: 403 });
      expect([await explained(), await listed()]).toEqual([404, 200]);
      informers.allow(Pod);
      expect([await explained(), await listed()]).toEqual([404, 200]);
    });

    it('says so where this replica watches no Deployments', async () => {
      expect((await send('GET', '/admin/explain/deployments/default/web')).status).toBe(503);
    });
  });

  it('leads from its address to the console, whoever asks', async () => {
    const elsewhere = { 'x-forwarded-for': '10.0.0.9' };
    for (const headers of [{}, elsewhere]) {
      const answer = await send('GET', '/', { headers });
      expect(answer).toMatchObject({ status: 302, headers: { location: '/console' } });
    }
    expect((await send('POST', '/', {})).status).toBe(401);
  });

  describe('the z-pages', () => {
    const STRUCTURED = 'application/json;v=v1beta1;g=config.k8s.io;as=';

    it('tell options and age of the process, in text and structured', async () => {
      await server.close();
      await start({ config: () => ({ workers: { deployment: 5 }, kubeconfig: '(hidden)' }) });
      expect(parsed(await send('GET', '/configz'))).toEqual({
        'controller.rollkeeper.dev': {
          kind: 'RollkeeperControllerConfiguration',
          apiVersion: 'controller.rollkeeper.dev/v1alpha1',
          workers: { deployment: 5 },
          kubeconfig: '(hidden)',
        },
      });
      expect((await send('GET', '/flagz')).body).toContain('\nkubeconfig=CLASSIFIED\nworkers=deployment=5\n');
      expect((await send('GET', '/statusz')).body).toContain('\nStarted: Thu Jan  1 00:00:00 UTC 1970\n');
      const structured = async (path: string, as: string) =>
        parsed(await send('GET', path, { headers: { accept: STRUCTURED + as } }));
      const common = { apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'rollkeeper' } };
      expect(await structured('/flagz', 'Flagz')).toEqual({
        ...common,
        kind: 'Flagz',
        flags: { kubeconfig: 'CLASSIFIED', workers: 'deployment=5' },
      });
      expect(await structured('/statusz', 'Statusz')).toMatchObject({
        ...common,
        kind: 'Statusz',
        startTime: '1970-01-01T00:00:00Z',
        paths: expect.arrayContaining(['/statusz']),
      });
    });

    it('answer 406 to any other form', async () => {
      for (const path of ['/flagz', '/statusz'])
        expect((await send('GET', path, { headers: { accept: 'application/json' } })).status).toBe(406);
    });

    it('are for those who may read the admin pages, and for nobody else', async () => {
      const elsewhere = { 'x-forwarded-for': '10.0.0.9' };
      for (const path of ['/configz', '/flagz', '/statusz']) {
        expect((await send('GET', path, { headers: elsewhere })).status, path).toBe(401);
        expect((await send('GET', path, { headers: { ...elsewhere, ...withToken() } })).status).toBe(200);
      }
    });

    it('are for users of the cluster who have a right on their path, not for those of one namespace', async () => {
      await server.close();
      const asked: string[] = [];
      const rights: Readonly<Record<string, readonly string[]>> = {
        operator: ['/configz', '/flagz', '/statusz'],
        // A Role of a namespace is no right on any path; another path is another right.
        'of-one-namespace': [],
        'of-the-admin-api': ['/admin/queues'],
      };
      await start({
        delegated: {
          judge: async ({ path, token: user = '', verb }) => {
            asked.push(`${verb} ${path}`);
            return rights[user]?.includes(path)
              ? { verdict: 'allowed', user }
              : { verdict: 'forbidden', user };
          },
        },
      });
      const statusFor = async (user: string, path: string) =>
        (await send('GET', path, { headers: { authorization: `Bearer ${user}` } })).status;
      for (const path of ['/configz', '/flagz', '/statusz']) {
        expect(await statusFor('operator', path), path).toBe(200);
        expect(await statusFor('of-one-namespace', path), path).toBe(403);
        expect(await statusFor('of-the-admin-api', path), path).toBe(403);
      }
      expect(asked).toContain('get /configz');
    });
  });

  it('says that the store is silent, since when, and answers all the same', async () => {
    await server.close();
    const cluster = new FakeCluster();
    const never = () => new Promise<never>(() => undefined);
    await start({
      informers: new FakeInformers(cluster),
      store: { name: 'redis', ping: never },
      lease: never,
      peers: { peers: never },
    });
    const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 0 });
    await cluster.create(Deployment, { apiVersion, kind, metadata, spec });
    const asked = ['/admin/status', '/admin/replicas', '/admin/explain/deployments/default/web'].map((path) =>
      send('GET', path),
    );
    for (let step = 0; step < 20; step++) {
      await ports.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [, replicas, explained] = (await Promise.all(asked)).map(parsed);
    expect(replicas).toMatchObject({
      store: { name: 'redis', answers: false },
      replicas: [{ reachable: true }],
    });
    expect(explained).toMatchObject({
      state: 'blocked',
      cause: 'store-silent',
      sentence: expect.stringMatching(
        /^Stuck: .*Redis does not answer since 2026-01-01T12:00:0.*pods that run go on/,
      ),
    });
    expect(parsed(await send('GET', '/admin/status'))).toMatchObject({ store: { answers: false } });
  });

  it('says that the API is silent, and that what it shows is older', async () => {
    await server.close();
    const cluster = new FakeCluster();
    const client = Object.assign(Object.create(cluster) as FakeCluster, {
      ping: () => new Promise<never>(() => undefined),
    });
    await start({ informers: new FakeInformers(cluster), client });
    const { apiVersion, kind, metadata, spec } = aDeployment({ replicas: 0 });
    await cluster.create(Deployment, { apiVersion, kind, metadata, spec });
    const asked = send('GET', '/admin/explain/deployments/default/web');
    for (let step = 0; step < 20; step++) {
      await ports.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(parsed(await asked)).toMatchObject({
      state: 'blocked',
      cause: 'api-silent',
      sentence: expect.stringContaining('the API server does not answer (nothing came for 1.2 s)'),
    });
  });

  it('shows leader, lease and replicas', async () => {
    expect(parsed(await send('GET', '/admin/replicas'))).toMatchObject({
      leader: 'controller-0',
      epoch: 3,
      lease: { remainingMs: 2500 },
      replicas: [{ identity: 'controller-0', reachable: true, leader: true }],
    });
  });

  it('sets the log level, to a level that exists', async () => {
    const set = (level: unknown) =>
      send('PUT', '/admin/log-level', { body: { level }, headers: withToken() });
    expect((await set('debug')).status).toBe(200);
    expect(parsed(await send('GET', '/admin/log-level'))).toEqual({ level: 'debug' });
    expect((await set('loud')).status).toBe(400);
  });

  it('takes a CPU profile', async () => {
    const profiling = send('POST', '/admin/debug/cpu-profile?seconds=1', { headers: withToken() });
    const timer = setInterval(() => void ports.clock.advance(1000), 20);
    const answer = await profiling.finally(() => clearInterval(timer));
    expect(parsed(answer)).toMatchObject({ nodes: expect.any(Array) });
  });

  it('describes every route that there is, and none that is not', async () => {
    const { paths } = OPENAPI_DOCUMENT;
    for (const [path, operations] of Object.entries(paths)) {
      for (const method of Object.keys(operations)) {
        if (path === '/admin/events' || path.includes('heap-snapshot') || path.includes('cpu-profile'))
          continue;
        const filled = path.replaceAll('{controller}', 'deployment').replaceAll(/\{\w+\}/g, 'web');
        const { body } = await send(method.toUpperCase(), filled, { headers: withToken() });
        expect(body, `${method} ${path}`).not.toContain('Cannot ');
      }
    }
    expect(parsed(await send('GET', '/admin/openapi.json'))).toMatchObject({ openapi: '3.1.0' });
    const described = new Set(Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1')));
    expect(server.routes().filter((route) => !described.has(route))).toEqual([]);
  });
});
