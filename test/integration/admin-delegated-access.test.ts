import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminModule, startAdminServer } from '../../src/rollkeeper/admin/server/index.js';
import type { AdminPorts, AdminServer } from '../../src/rollkeeper/admin/server/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { DelegatedAccess } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import type { TestCertificates } from '../../src/testing/api-client-certificates.js';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import type { Answer } from '../../src/testing/api-client-server.js';
import { ApiClientServer, hangUp, json, silence } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

const OWN_TOKEN = 'the-token-of-the-replica-itself';
const ELSEWHERE = { 'x-forwarded-for': '10.0.0.9' };

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly token?: string;
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
    readonly resourceAttributes?: { readonly namespace: string };
  };
}

/** A right as RBAC has it: exactly the path, or with a `*` at its end everything that begins so. */
interface Right {
  readonly user: string;
  readonly path: string;
  readonly verb: string;
}

/** An API server's review endpoints, for callers who may ask it. All of them may list the Deployments of `shop` alone. */
function reviewing(users: Readonly<Record<string, string>>, rights: readonly Right[]): Answer {
  return (response, request) => {
    if (request.url === '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews') {
      const review = JSON.parse(request.body) as Review;
      const allowed = review.spec.resourceAttributes?.namespace === 'shop';
      return json(201, { ...review, status: { allowed } })(response, request);
    }
    if (request.headers.authorization !== `Bearer ${OWN_TOKEN}`)
      return json(403, { kind: 'Status', code: 403, reason: 'Forbidden' })(response, request);
    const review = JSON.parse(request.body) as Review;
    const { nonResourceAttributes, token = '', user } = review.spec;
    if (request.url === '/apis/authentication.k8s.io/v1/tokenreviews') {
      const username = users[token];
      const status = username ? { authenticated: true, user: { username, groups: ['staff'] } } : { user: {} };
      return json(201, { ...review, status })(response, request);
    }
    if (request.url === '/apis/authorization.k8s.io/v1/subjectaccessreviews') {
      const { path = '', verb } = nonResourceAttributes ?? {};
      const allowed = rights.some(
        (right) =>
          right.user === user &&
          right.verb === verb &&
          (right.path === path || (right.path.endsWith('*') && path.startsWith(right.path.slice(0, -1)))),
      );
      return json(201, { ...review, status: { allowed } })(response, request);
    }
    return json(404, { kind: 'Status', code: 404, reason: 'NotFound' })(response, request);
  };
}

describe('an admin port that leaves it to the cluster who may', () => {
  let pki: TestCertificates;
  let api: ApiClientServer;
  let client: HttpApiClient;
  let server: AdminServer;
  let ports: AdminPorts & { readonly clock: { advance(ms: number): Promise<void> } };
  const loggedUsers: unknown[] = [];
  const closings: (() => void)[] = [];

  beforeAll(async () => {
    pki = await makeTestCertificates();
  });

  beforeEach(async () => {
    loggedUsers.length = 0;
    const { cert, key } = pki.server;
    api = await ApiClientServer.start({ cert, key });
    api.always(
      reviewing(
        {
          'alices-token': 'alice',
          'bobs-token': 'bob',
          'sres-token': 'sre',
          'scrapers-token': 'prometheus',
          'watchers-token': 'watcher',
          'shops-token': 'shop-team',
        },
        [
          { user: 'alice', path: '/admin/*', verb: 'get' },
          { user: 'bob', path: '/admin/queues/*', verb: 'get' },
          { user: 'sre', path: '/admin/log-level', verb: 'put' },
          { user: 'prometheus', path: '/metrics', verb: 'get' },
          { user: 'watcher', path: '/admin/events', verb: 'get' },
          { user: 'shop-team', path: '/admin/rollouts/shop/*', verb: 'get' },
          { user: 'shop-team', path: '/admin/rollouts/shop/*', verb: 'post' },
        ],
      ),
    );
    await serve(pki.ca);
  });

  const serve = async (ca: string): Promise<void> => {
    client = createHttpApiClient({
      connection: {
        serverUrl: api.url,
        tls: { ca },
        credentials: bearerToken(OWN_TOKEN),
        source: 'test',
      },
      clock: new SystemClock(),
      userAgent: 'test',
    });
    const logger = { ...silentLogger, info: (_text: string, fields?: object) => loggedUsers.push(fields) };
    const health = new HealthRegistry();
    const failing = { name: 'redis', check: () => Promise.reject(new Error('redis.internal is away')) };
    health.add('readyz', failing);
    ports = anAdminPorts({ logger });
    ports = {
      ...ports,
      delegated: new DelegatedAccess({ client, clock: ports.clock, logger: silentLogger }),
      clientAs: () => client,
    };
    const module = AdminModule.forRoot({ health, metrics: createMetrics(), status: ports.status, ports });
    server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
  };

  afterEach(async () => {
    for (const close of closings.splice(0)) close();
    await server.close();
    await client.close();
    await api.stop();
  });

  const send = (
    method: string,
    path: string,
    { body, headers = {}, token }: { body?: unknown; headers?: Record<string, string>; token?: string } = {},
  ): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const given = {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...ELSEWHERE,
        ...headers,
      };
      const sent = httpRequest({ hostname, port, method, path, headers: given }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const statusOf = async (...args: Parameters<typeof send>): Promise<number> => (await send(...args)).status;
  const debug = { body: { level: 'debug' } };

  it('lets those in whom the cluster knows and allows it', async () => {
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(200);
    expect(await statusOf('GET', '/admin/queues/deployment', { token: 'bobs-token' })).toBe(200);
    expect(await statusOf('PUT', '/admin/log-level', { ...debug, token: 'sres-token' })).toBe(200);
    expect(ports.logLevel.get()).toBe('debug');
    expect(loggedUsers).toContainEqual({ user: 'sre', verb: 'put', path: '/admin/log-level' });
    expect(api.received.map(({ body }) => JSON.parse(body) as Review)[1]).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'alice',
        groups: ['staff'],
        nonResourceAttributes: { path: '/admin/config', verb: 'get' },
      },
    });
  });

  it('lets a team look at the rollouts of its namespace, and speak to them, and to no others', async () => {
    const asked = (method: string, namespace: string, more = ''): Promise<number> =>
      statusOf(method, `/admin/rollouts/${namespace}/web${more}`, { token: 'shops-token' });
    // No Deployments are watched here, which only those learn who may ask.
    expect(await asked('GET', 'shop')).toBe(503);
    expect(await asked('GET', 'shop', '/changes?revision=1')).toBe(503);
    // The token says who asks.
    expect(await asked('POST', 'shop', '/promote')).toBe(503);
    for (const namespace of ['bank', 'shop2', 'shop/../bank', 'shop%2f..%2fbank'])
      for (const [method, more] of [
        ['GET', ''],
        ['GET', '/changes?revision=1'],
        ['POST', '/promote'],
        ['POST', '/undo'],
      ] as const)
        expect(await asked(method, namespace, more), `${method} ${namespace}${more}`).toBe(403);
  });

  it('still believes its own token, and asks nobody about it', async () => {
    expect(await statusOf('PUT', '/admin/log-level', { ...debug, token: ADMIN_TOKEN })).toBe(200);
    expect(api.received).toEqual([]);
  });

  it('asks nobody about reads from this machine and probes', async () => {
    const { port } = new URL(server.url);
    const local = await fetch(`http://127.0.0.1:${port}/admin/config`);
    expect(local.status).toBe(200);
    expect(await statusOf('GET', '/livez', { token: 'guess' })).toBe(200);
    expect(api.received).toEqual([]);
  });

  it('lets those read the metrics who have a right to them, and nobody else', async () => {
    expect(await statusOf('GET', '/metrics', { token: 'scrapers-token' })).toBe(200);
    expect(await statusOf('GET', '/metrics', { token: 'alices-token' })).toBe(403);
    expect(await statusOf('GET', '/metrics', { token: 'guess' })).toBe(401);
    expect(await statusOf('GET', '/metrics', {})).toBe(401);
  });

  it('gives each user of the cluster event streams of their own, whichever address they come from', async () => {
    const open = async (token: string): Promise<{ isOver: boolean; status: number | undefined }> => {
      const { hostname, port } = new URL(server.url);
      const headers = { ...ELSEWHERE, authorization: `Bearer ${token}` };
      const sent = httpRequest({ hostname, port, path: '/admin/events', headers, agent: false });
      closings.push(() => sent.destroy());
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
      const stream = { isOver: false, status: response.statusCode };
      response.on('close', () => (stream.isOver = true)).on('error', () => undefined);
      response.resume();
      return stream;
    };
    const watcher = await open('watchers-token');
    const streams: { isOver: boolean; status: number | undefined }[] = [];
    for (let count = 0; count < 60; count++) streams.push(await open('alices-token'));
    await waitFor(() => streams.filter(({ isOver }) => isOver).length === 40, { what: 'the oldest to end' });
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    expect(watcher).toEqual({ isOver: false, status: 200 });
    expect(await open('watchers-token')).toEqual({ isOver: false, status: 200 });
  });

  it('tells those whom it turns away why, and does nothing of what they asked', async () => {
    const forbidden = await send('PUT', '/admin/log-level', { ...debug, token: 'alices-token' });
    expect(forbidden).toEqual({ status: 403, body: '{"error":"alice may not put /admin/log-level"}' });
    const unknown = await send('PUT', '/admin/log-level', { ...debug, token: 'guess' });
    expect(unknown).toEqual({ status: 401, body: '{"error":"the cluster does not know the token"}' });
    expect(ports.logLevel.get()).toBe('info');
  });

  it.each([
    ['nothing', {}],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic YWxpY2U6eA==' }],
    ['a name instead of a token', { 'x-remote-user': 'alice', 'x-remote-group': 'system:masters' }],
    [
      'a token and a wish to be somebody else',
      { authorization: 'Bearer bobs-token', 'impersonate-user': 'alice' },
    ],
    ['two tokens in one', { authorization: 'Bearer bobs-token, Bearer alices-token' }],
    ['a token in a cookie', { cookie: 'token=alices-token' }],
    ['the replica’s own token for the cluster', { authorization: `Bearer ${OWN_TOKEN}` }],
    [
      'a right token from another site',
      { authorization: 'Bearer alices-token', origin: 'http://evil.example' },
    ],
  ])('lets nobody in with %s', async (_what, headers) => {
    const status = await statusOf('GET', '/admin/config', { headers });
    expect([401, 403]).toContain(status);
    expect(await statusOf('GET', '/admin/config?token=alices-token&access_token=alices-token')).toBe(401);
  });

  it.each([
    ['the right of a neighbour', 'GET', '/admin/config'],
    ['what is below, for the thing itself', 'GET', '/admin/queues'],
    ['what is below, with a slash', 'GET', '/admin/queues/'],
    ['what is below, in other letters', 'GET', '/Admin/Queues/'],
    ['a way out of what is allowed', 'GET', '/admin/queues/../config'],
    ['an escaped way out', 'GET', '/admin/queues/%2e%2e/config'],
    ['an escaped slash', 'GET', '/admin/queues/..%2fconfig'],
    ['an empty segment', 'GET', '//admin/queues/deployment'],
    ['another verb', 'POST', '/admin/queues/deployment/purge'],
    ['a verb in disguise', 'POST', '/admin/queues/deployment/purge?_method=GET'],
    ['a verb that reads nothing', 'HEAD', '/admin/queues/deployment'],
    ['a verb for the methods', 'OPTIONS', '/admin/queues/deployment'],
  ])('gives nobody more than their right: %s', async (_what, method, path) => {
    const headers = { 'x-http-method-override': 'GET' };
    const body = method === 'POST' ? { key: 'default/web' } : undefined;
    expect(await statusOf(method, path, { body, headers, token: 'bobs-token' })).toBe(403);
  });

  it('gives letters that a route passes over no other right, and a path as it is routed its own', async () => {
    expect(await statusOf('GET', '/ADMIN/queues/Deployment/', { token: 'bobs-token' })).toBe(404);
    const asked = JSON.parse(api.received.at(-1)?.body ?? '') as Review;
    expect(asked.spec.nonResourceAttributes?.path).toBe('/admin/queues/deployment');
  });

  it.each<[what: string, answer: Answer, tokenReviewToo: boolean]>([
    ['refuses the question', json(403, { kind: 'Status', code: 403, reason: 'Forbidden' }), true],
    ['does not know us', json(401, { kind: 'Status', code: 401, reason: 'Unauthorized' }), true],
    ['fails', json(500, { kind: 'Status', code: 500, reason: 'InternalError' }), true],
    ['hangs up', hangUp, true],
    ['answers nonsense', json(201, '<html>'), true],
    ['echoes the question', (response, { body }) => void response.writeHead(201).end(body), true],
    ['refuses the second question', json(403, { kind: 'Status', code: 403 }), false],
    ['hangs up at the second question', hangUp, false],
  ])('stays shut when the API server %s', async (_what, answer, tokenReviewToo) => {
    const usual = reviewing({ 'alices-token': 'alice' }, []);
    api.always((response, request) => {
      const isTokenReview = request.url.endsWith('tokenreviews');
      return (isTokenReview && !tokenReviewToo ? usual : answer)(response, request);
    });
    const refused = await send('PUT', '/admin/log-level', { ...debug, token: 'alices-token' });
    expect(refused.status).toBe(503);
    expect(refused.body).not.toMatch(/ECONN|127\.0\.0\.1|alices-token/);
    expect(ports.logLevel.get()).toBe('info');
    // People at the machine, and those with its own token, can still look.
    expect(await statusOf('GET', '/admin/config', { token: ADMIN_TOKEN })).toBe(200);
  });

  it('stays shut when the API server is away or does not answer', async () => {
    api.always(silence);
    const waiting = statusOf('GET', '/admin/config', { token: 'alices-token' });
    await waitFor(() => api.received.length > 0, { what: 'the question' });
    await ports.clock.advance(5000);
    expect(await waiting).toBe(503);
    await api.stop();
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(503);
  });

  it('stays shut when the server that answers has another certificate', async () => {
    await server.close();
    await client.close();
    await serve((await makeTestCertificates()).ca);
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(503);
    expect(api.received).toEqual([]);
  });

  it('turns a token away ten seconds after it was revoked at the latest', async () => {
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(200);
    api.always(reviewing({}, []));
    await ports.clock.advance(9999);
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(200);
    await ports.clock.advance(1);
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(401);
  });

  it('asks the cluster about ten guesses of an address, and then about none', async () => {
    for (let guess = 0; guess < 10; guess++)
      expect(await statusOf('GET', '/admin/config', { token: `guess-${guess}` })).toBe(401);
    expect(await statusOf('GET', '/admin/config', { token: 'guess-10' })).toBe(429);
    const asked = api.received.length;
    expect(await statusOf('GET', '/admin/config', { token: 'guess-11' })).toBe(429);
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(429);
    expect(api.received).toHaveLength(asked);
    expect(await statusOf('GET', '/admin/config', { token: ADMIN_TOKEN })).toBe(200);
    await ports.clock.advance(6000);
    expect(await statusOf('GET', '/admin/config', { token: 'alices-token' })).toBe(200);
  });

  describe('why a check fails', () => {
    const reasonsFor = async (token: string): Promise<boolean> =>
      (await send('GET', '/readyz?verbose', { token })).body.includes('redis.internal');

    it('is shown to everyone who may read /admin/status, and to no one else', async () => {
      expect(await reasonsFor('alices-token')).toBe(true);
      expect(await reasonsFor('bobs-token')).toBe(false);
      expect(await reasonsFor('guess')).toBe(false);
    });

    it('costs no question where it is not asked for, and no more than eleven for guesses', async () => {
      for (let probe = 0; probe < 20; probe++) await send('GET', '/readyz', { token: `guess-${probe}` });
      expect(api.received).toEqual([]);
      for (let guess = 0; guess < 20; guess++) await reasonsFor(`guess-${guess}`);
      expect(api.received).toHaveLength(11);
      expect(await reasonsFor('alices-token')).toBe(false);
    });
  });
});
