import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { FakeClock } from '../../src/machinery/clock/index.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import type { AdminPorts, AdminServer } from '../../src/rollkeeper/admin/server/index.js';
import { AdminModule, startAdminServer } from '../../src/rollkeeper/admin/server/index.js';
import type { ConsoleCluster } from '../../src/rollkeeper/admin/clusters/index.js';
import { RedisSingleUses } from '../../src/rollkeeper/admin/pages/redis-peer-registry.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import { OtherClusters } from '../../src/rollkeeper/admin/clusters/index.js';
import type { AccessQuestion, AskingOne } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { asTheTeam } from './support/shop-team.js';

const ELSEWHERE = { 'x-forwarded-for': '10.0.0.9' };
const MINUTE_MS = 60_000;
const SESSION_HEADER = 'X-Rollkeeper-Cluster-Session';
const STRANGE = 'https://evil.example';

interface Installation {
  readonly server: AdminServer;
  readonly clock: FakeClock;
  readonly adminToken: string;
  /** As whom its API was asked. */
  readonly askedAs: AskingOne[];
  readonly judged: AccessQuestion[];
  readonly health: HealthRegistry;
}

describe('the consoles of two clusters', () => {
  let here: Installation;
  let there: Installation;
  const closings: (() => Promise<unknown>)[] = [];

  /** With users of its own: tokens of one are worth nothing to the other. */
  const install = async (
    name: string,
    clusters: () => readonly ConsoleCluster[],
    more: Pick<AdminPorts, 'singleUses'> = {},
  ): Promise<Installation> => {
    const askedAs: AskingOne[] = [];
    const judged: AccessQuestion[] = [];
    const health = new HealthRegistry();
    const adminToken = `the-admin-token-of-${name}`;
    const known: { current?: OtherClusters } = {};
    const ports = anAdminPorts({
      ...more,
      token: adminToken,
      client: new FakeCluster(),
      clientAs: (who) => {
        askedAs.push(who);
        return asTheTeam(new FakeCluster());
      },
      delegated: {
        judge: async (question) => {
          judged.push(question);
          return question.token === `team-of-${name}`
            ? { verdict: 'allowed', user: `team@${name}` }
            : { verdict: 'unauthenticated' };
        },
      },
    });
    const lazy: AdminPorts = Object.defineProperty({ ...ports }, 'clusters', {
      get: () => (known.current ??= new OtherClusters({ clusters: clusters(), clock: ports.clock })),
    });
    const module = AdminModule.forRoot({
      health,
      metrics: createMetrics(),
      status: ports.status,
      ports: lazy,
    });
    const server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
    closings.push(() => server.close());
    return { server, clock: ports.clock, adminToken, askedAs, judged, health };
  };

  beforeEach(async () => {
    const clusters = (): readonly ConsoleCluster[] => [
      { name: 'eu', url: here.server.url },
      { name: 'us', url: there.server.url },
    ];
    here = await install('eu', clusters);
    there = await install('us', clusters);
  });
  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
  });

  const send = async (
    of: Installation,
    method: string,
    path: string,
    { body, headers = {}, token }: Sent = {},
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> => {
    const response = await fetch(of.server.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text || '{}') as Record<string, unknown> };
  };
  interface Sent {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly token?: string;
  }

  const handOver = (token: string | undefined, to = here.server.url) =>
    send(there, 'GET', `/admin/sign-in/hand-over?to=${encodeURIComponent(to)}`, {
      ...(token !== undefined && { token }),
    });
  const takeOver = (ticket: unknown) =>
    send(here, 'GET', '/admin/clusters/us/session', {
      ...{ token: 'team-of-eu', headers: { 'X-Rollkeeper-Cluster-Ticket': String(ticket) } },
    });
  /** The session of the other cluster, as this one's page gets it. */
  const sessionThere = async (token: string): Promise<string> => {
    const { body } = await handOver(token);
    const taken = await takeOver(body['ticket']);
    return (taken.body['answer'] as { session: string }).session;
  };
  const problemsThere = (session: string) =>
    send(here, 'GET', '/admin/clusters/us/problems', {
      ...{ token: 'team-of-eu', headers: { [SESSION_HEADER]: session } },
    });

  it('are listed with how each is, which takes no rights there', async () => {
    const healthOf = async () => {
      const { body } = await send(here, 'GET', '/admin/clusters');
      return (body['clusters'] as { name: string; health: string }[]).map(({ health, name }) => [
        name,
        health,
      ]);
    };
    expect(await healthOf()).toEqual([
      ['eu', 'well'],
      ['us', 'well'],
    ]);
    there.health.add('readyz', { name: 'redis', check: () => Promise.reject(new Error('redis.internal')) });
    await here.clock.advance(4999);
    expect((await healthOf())[1]).toEqual(['us', 'well']);
    await here.clock.advance(1);
    expect((await healthOf())[1]).toEqual(['us', 'ailing']);
    await there.server.close();
    await here.clock.advance(5000);
    expect((await healthOf())[1]).toEqual(['us', 'away']);
    expect(there.judged).toEqual([]);
  });

  it('are listed for nobody who may not read here', async () => {
    for (const path of ['/admin/clusters', '/admin/clusters/us/problems', '/admin/clusters/us/session'])
      expect((await send(here, 'GET', path, { headers: ELSEWHERE })).status).toBe(401);
  });

  it('show what is wrong in the other with the rights that the user has there, and those alone', async () => {
    const session = await sessionThere('team-of-us');
    const { body, status } = await problemsThere(session);
    expect(status).toBe(200);
    expect(body['answer']).toMatchObject({ problems: [] });
    // By the token of there, and by nothing of here.
    expect(there.judged).toEqual([
      expect.objectContaining({ token: 'team-of-us', path: '/admin/sign-in/hand-over' }),
      expect.objectContaining({ token: 'team-of-us', path: '/admin/problems' }),
    ]);
    expect(new Set(there.askedAs.map(({ token }) => token))).toEqual(new Set(['team-of-us']));
    const { notes } = body['answer'] as { notes: readonly string[] };
    expect(notes.join()).toContain('may not');
  });

  it('give each other no session that does more than read problems', async () => {
    const session = await sessionThere('team-of-us');
    for (const [method, path] of [
      ['GET', '/admin/objects/pods'],
      ['GET', '/admin/problems/'],
      ['GET', '/admin/Problems'],
      ['HEAD', '/admin/problems'],
      ['GET', '/admin/sign-in/hand-over'],
      ['POST', '/admin/sign-in'],
      ['POST', '/admin/objects/deployments/shop/web/scale'],
      ['PUT', '/admin/log-level'],
      ['GET', '/metrics'],
    ] as const) {
      const response = await fetch(there.server.url + path, {
        ...{ method, headers: { authorization: `Bearer ${session}` } },
      });
      expect([path, response.status]).toEqual([path, 403]);
    }
    expect((await send(there, 'GET', '/admin/problems', { token: session })).status).toBe(200);
  });

  it('take a ticket once, also when another replica with the same Redis took it before', async () => {
    const prefix = `test-${randomUUID()}`;
    const redis = createRedisConnection({ url: inject('redisUrl'), connectionName: 'test' });
    closings.push(async () => redis.disconnect());
    const replica = () => install('us', () => [], { singleUses: new RedisSingleUses(redis, prefix) });
    const [first, second] = [await replica(), await replica()];
    const use = async (at: Installation, ticket: unknown) =>
      (await send(at, 'POST', '/admin/sign-in/take-over', { body: { ticket } })).status;
    const ticket = async () => (await handOver('team-of-us')).body['ticket'];
    const [one, other] = [await ticket(), await ticket()];
    expect([await use(first, one), await use(second, one), await use(first, one)]).toEqual([200, 401, 401]);
    expect(await use(second, other)).toBe(200);
    expect(await redis.pttl((await redis.keys(`${prefix}:used:*`))[0] ?? '')).toBeGreaterThan(0);
    // Without a Redis each replica remembers for itself.
    const alone = await ticket();
    expect([await use(there, alone), await use(there, alone)]).toEqual([200, 401]);
  });

  it('refuse a ticket while nobody knows whether it was used', async () => {
    const singleUses = { isFirst: () => Promise.reject(new Error('redis.internal is down')) };
    const broken = await install('us', () => [], { singleUses });
    const { body } = await handOver('team-of-us');
    const refused = await send(broken, 'POST', '/admin/sign-in/take-over', {
      body: { ticket: body['ticket'] },
    });
    expect(refused).toEqual({ status: 503, body: { error: 'the store of this console does not answer' } });
  });

  it('know each other’s sessions, tokens and tickets not at all', async () => {
    for (const token of ['team-of-us', there.adminToken, await sessionThere('team-of-us')])
      expect((await send(here, 'GET', '/admin/clusters', { token, headers: ELSEWHERE })).status).toBe(401);
    const { body } = await handOver('team-of-us');
    const wrong = await send(here, 'POST', '/admin/sign-in/take-over', { body: { ticket: body['ticket'] } });
    expect(wrong.status).toBe(401);
  });

  it('pass on no token, only a session, and of this one’s own credentials nothing', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const spy: Server = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => spy.listen(0, '127.0.0.1', resolve));
    closings.push(() => new Promise((resolve) => spy.close(resolve)));
    const url = `http://127.0.0.1:${(spy.address() as AddressInfo).port}`;
    const spied = await install('eu', () => [{ name: 'us', url }]);
    const ask = (session?: string) =>
      send(spied, 'GET', '/admin/clusters/us/problems', {
        token: spied.adminToken,
        headers: {
          ...{ cookie: 'a=b', 'impersonate-user': 'admin' },
          ...(session !== undefined && { [SESSION_HEADER]: session }),
        },
      });
    expect((await ask()).status).toBe(401);
    expect((await ask('team-of-us')).status).toBe(401);
    expect(seen).toEqual([]);
    await send(spied, 'GET', '/admin/clusters');
    expect((await ask('rkc1.session')).status).toBe(200);
    const ours = seen.map(({ connection: _connection, host: _host, ...headers }) => headers);
    const via = '1.1 rollkeeper-console';
    expect(ours).toEqual([{ via }, { via, authorization: 'Bearer rkc1.session' }]);
  });

  it('are asked as from elsewhere, not as from the same machine, where anyone may read', async () => {
    const { body } = await problemsThere('rkc1.made-up');
    expect(body).toEqual({ refused: expect.stringContaining('the session has ended') });
    const response = await fetch(`${there.server.url}/admin/problems`, {
      headers: { via: '1.1 rollkeeper-console' },
    });
    expect(response.status).toBe(401);
  });

  it('give a ticket to no console that they do not name, and to nobody who has not signed in', async () => {
    for (const to of [STRANGE, '', `${here.server.url}/`, `${here.server.url}@evil.example`, '*'])
      expect((await handOver('team-of-us', to)).status).toBe(403);
    expect((await handOver(undefined)).status).toBe(401);
    expect((await handOver('team-of-eu')).status).toBe(401);
  });

  it('take a ticket for a minute, and a session no longer than the one that it comes from', async () => {
    const { body } = await handOver('team-of-us');
    await there.clock.advance(MINUTE_MS);
    const late = await takeOver(body['ticket']);
    expect(late.body).toEqual({ refused: expect.stringContaining('older than a minute') });
    const code = (await send(there, 'POST', '/admin/sign-in', { token: 'team-of-us' })).body['code'];
    const own = await send(there, 'POST', '/admin/sign-in/exchange', { body: { code } });
    await there.clock.advance(11 * 60 * MINUTE_MS);
    const session = await sessionThere(String(own.body['session']));
    expect((await problemsThere(session)).body).toHaveProperty('answer');
    await there.clock.advance(60 * MINUTE_MS);
    expect((await problemsThere(session)).body).toHaveProperty('refused');
  });

  it('are said within the page to be away or to answer nonsense', async () => {
    const session = await sessionThere('team-of-us');
    await there.server.close();
    expect(await problemsThere(session)).toMatchObject({
      ...{ status: 200, body: { away: expect.stringMatching(/ECONNREFUSED|connect/) } },
    });
    expect((await send(here, 'GET', '/admin/clusters/none/problems')).status).toBe(404);
  });
});
