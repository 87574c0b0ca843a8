import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { AdminModule, proofOf, startAdminServer } from '../../src/rollkeeper/admin/server/index.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { HealthRegistry } from '../../src/runtime/health/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { RedisPeerRegistry } from '../../src/rollkeeper/admin/pages/redis-peer-registry.js';
import { createMetrics } from '../../src/opentelemetry/index.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { BullMqWorkQueue } from '../../src/redis/index.js';
import { createRedisConnection } from '../../src/redis/connection/index.js';
import { FaultyPort } from '../support/faulty-port.js';

describe('replicas that find each other through Redis', () => {
  const clock = new SystemClock();
  let keyPrefix: string;
  let stop: AbortController;
  let ends: (() => Promise<unknown>)[];

  beforeEach(() => {
    keyPrefix = `t-${randomUUID()}`;
    stop = new AbortController();
    ends = [];
  });

  afterEach(async () => {
    stop.abort();
    await Promise.all(ends.map((end) => end()));
  });

  const announce = (
    identity: string,
    adminUrl: string,
    { token = ADMIN_TOKEN, ...changes }: { token?: string; certificates?: readonly string[] } = {},
  ): { registry: RedisPeerRegistry; leave: AbortController } => {
    const registry = new RedisPeerRegistry({
      redisUrl: inject('redisUrl'),
      keyPrefix,
      identity,
      clock,
      logger: silentLogger,
    });
    const peer = { identity, adminUrl, pid: 1, startedAtMs: 0, ...changes };
    registry.announceAs({ ...peer, proof: proofOf(peer, token) });
    const leave = new AbortController();
    const running = registry.run(AbortSignal.any([stop.signal, leave.signal]));
    ends.push(() => running.then(() => registry.close()));
    return { registry, leave };
  };

  const serve = async (identity: string, registry: { current?: RedisPeerRegistry }): Promise<AdminServer> => {
    const queue = new BullMqWorkQueue({ name: 'deployment', redisUrl: inject('redisUrl'), keyPrefix, clock });
    const ports = anAdminPorts({
      identity,
      queues: () => new Map([['deployment', queue]]),
      peers: { peers: async () => registry.current?.peers() ?? [] },
    });
    ports.decisions.add({ atMs: 1, controller: 'deployment', key: 'a/b', replica: identity, actions: ['x'] });
    ports.running.start('deployment', `at/${identity}`);
    const module = AdminModule.forRoot({
      health: new HealthRegistry(),
      metrics: createMetrics(),
      status: ports.status,
      ports,
    });
    const server = await startAdminServer(module, { host: '127.0.0.1', port: 0 });
    ends.push(async () => {
      await server.close();
      await queue.close();
    });
    return server;
  };

  const read = async (url: string): Promise<unknown> => (await fetch(url)).json();

  it('knows who is there, and who has left', async () => {
    const { registry } = announce('r0', 'http://127.0.0.1:1');
    const { leave } = announce('r1', 'http://127.0.0.1:2');
    const names = async () => (await registry.peers()).map(({ identity }) => identity).join();
    await waitFor(async () => (await names()) === 'r0,r1', { what: 'both replicas' });
    leave.abort();
    await waitFor(async () => (await names()) === 'r0', { what: 'one replica' });
  });

  it('shows on each replica what all of them work on, and names the one that does not answer', async () => {
    const registry: { current?: RedisPeerRegistry } = {};
    const [first, second] = await Promise.all([serve('r0', registry), serve('r1', registry)]);
    registry.current = announce('r0', first.url).registry;
    announce('r1', second.url);
    announce('r2', 'http://127.0.0.1:9');
    await waitFor(async () => (await registry.current?.peers())?.length === 3, { what: 'three replicas' });
    for (const { url } of [first, second]) {
      const { replicas } = (await read(`${url}/admin/replicas`)) as { replicas: unknown[] };
      expect(replicas).toMatchObject([
        { identity: 'r0', reachable: true, running: [{ key: 'at/r0' }] },
        { identity: 'r1', reachable: true, running: [{ key: 'at/r1' }] },
        { identity: 'r2', reachable: false, running: [] },
      ]);
      const queue = (await read(`${url}/admin/queues/deployment`)) as { running: { replica: string }[] };
      expect(queue.running.map(({ replica }) => replica)).toEqual(['r0', 'r1']);
    }
  });

  it('names one that has fallen silent and whose port still accepts, and forgets one whose port is closed', async () => {
    const hung = await FaultyPort.start('accepts and never answers');
    ends.push(() => hung.stop());
    const registry: { current?: RedisPeerRegistry } = {};
    const first = await serve('r0', registry);
    const current = announce('r0', first.url).registry;
    registry.current = current;
    const redis = createRedisConnection({ url: inject('redisUrl'), connectionName: 'test' });
    ends.push(async () => redis.disconnect());
    const silent = async (identity: string, adminUrl: string, seconds: number): Promise<void> => {
      const peer = { identity, adminUrl, pid: 1, startedAtMs: 0 };
      const told = JSON.stringify({ ...peer, proof: proofOf(peer, ADMIN_TOKEN) });
      const seenMs = clock.now() - seconds * 1000;
      await redis.hset(`${keyPrefix}:replicas`, identity, JSON.stringify({ seenMs, told }));
    };
    await silent('hung', hung.url, 60);
    await silent('ended', 'http://127.0.0.1:9', 60);
    await silent('long-ago', hung.url, 700);
    await waitFor(async () => (await current.peers()).length === 3, { what: 'three replicas' });
    expect(await read(`${first.url}/admin/replicas`)).toMatchObject({
      replicas: [
        {
          identity: 'hung',
          reachable: false,
          problem: expect.stringMatching(/^its process hangs, .* for 6\d s/),
        },
        { identity: 'r0', reachable: true },
      ],
    });
  });

  it('shows how far the clocks of the others are ahead, and whether their options are the same', async () => {
    const registry: { current?: RedisPeerRegistry } = {};
    const [first, second] = await Promise.all([serve('r0', registry), serve('r1', registry)]);
    registry.current = announce('r0', first.url).registry;
    announce('r1', second.url);
    await waitFor(async () => (await registry.current?.peers())?.length === 2, { what: 'two replicas' });
    const { replicas } = (await read(`${first.url}/admin/replicas`)) as {
      replicas: { aheadMs?: number; optionsDigest: string }[];
    };
    expect(replicas[0]).not.toHaveProperty('aheadMs');
    // The clock of both stands at the same time, and that of the one that asks is the same as well.
    expect(replicas[1]?.aheadMs).toBe(0);
    expect(replicas[1]?.optionsDigest).toBe(replicas[0]?.optionsDigest);
    expect(replicas[0]?.optionsDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('serves bull-board over the real queues, read only', async () => {
    const { url } = await serve('r0', {});
    const queue = new BullMqWorkQueue({ name: 'deployment', redisUrl: inject('redisUrl'), keyPrefix, clock });
    ends.push(() => queue.close());
    await queue.add('default/web');
    const page = await fetch(`${url}/admin/bull-board`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(await page.text()).toContain('__UI_CONFIG__');
    expect(await read(`${url}/admin/bull-board/api/queues`)).toMatchObject({
      queues: [{ name: 'deployment', readOnlyMode: true, counts: { prioritized: 1 } }],
    });
    const script = /src="(static\/js\/main[^"]+)"/.exec(
      await (await fetch(`${url}/admin/bull-board`)).text(),
    )?.[1];
    expect((await fetch(`${url}/admin/bull-board/${script}`)).status).toBe(200);
  });
});
