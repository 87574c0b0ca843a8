import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RedisActorRuntime } from '../../src/redis/index.js';
import { RedisStorage } from '../../src/apiserver/storage/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { LeaderElector, noLeaderElectionMetrics } from '../../src/runtime/leader-election/index.js';
import { RedisHolderWitness, RedisResourceLock } from '../../src/redis/index.js';
import type { LogFields } from '../../src/machinery/logging/index.js';
import { assertUsableRedis, createRedisConnection } from '../../src/redis/connection/index.js';
import type { ReplicatedTopology } from '../support/redis-topologies.js';
import { startRedisCluster, startSentinelTrio, startTlsRedis } from '../support/redis-topologies.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';

const clock = new SystemClock();

describe('when Sentinels fail over', () => {
  let redis: ReplicatedTopology;

  beforeAll(async () => {
    redis = await startSentinelTrio();
  });

  afterAll(() => redis.stop());

  it('queue, actors, lease, store and watchers go on with the new master', async () => {
    const keyPrefix = randomUUID();
    const queue = new BullMqWorkQueue({ name: 'test', redisUrl: redis.url, keyPrefix, clock });
    const consumer = new BullMqWorkQueueConsumer({ queue });
    const actors = new RedisActorRuntime({ redisUrl: redis.url, keyPrefix, clock });
    const storage = new RedisStorage({ url: redis.url, keyPrefix: `${keyPrefix}:` });
    const lock = new RedisResourceLock({ url: redis.url, keyPrefix: `${keyPrefix}:`, identity: 'a' });
    const epochs: number[] = [];
    const elector = new LeaderElector({
      lock,
      callbacks: {
        async onStartedLeading(signal, epoch) {
          epochs.push(epoch);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        },
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
    const stop = new AbortController();
    const worked: string[] = [];
    const work = async ({ key }: { key: string }, signal: AbortSignal): Promise<void> =>
      actors.activate('test', key, signal, async () => void worked.push(key));
    const running = [
      storage.run(stop.signal),
      consumer.run(work, { concurrency: 2 }, stop.signal),
      elector.run(stop.signal),
    ];
    const seen: string[] = [];
    const watch = async (from: number): Promise<void> => {
      let after = from;
      while (!stop.signal.aborted) {
        try {
          for await (const events of storage.watch({ resource: 'pods', after }, stop.signal)) {
            for (const event of events) if (event.type !== 'progress') seen.push(event.key.name);
            after = events.at(-1)?.revision ?? after;
          }
        } catch {
          after = await storage.currentRevision().catch(() => after);
        }
      }
    };
    // Before anything is written: a watch from behind the first write would never show it.
    const watching = watch(await storage.currentRevision());
    const object = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns' } });
    const create = (name: string) =>
      storage.create({ resource: 'pods', namespace: 'ns', name }, object(name));

    await queue.add('ns/before');
    await create('before');
    await waitFor(() => worked.includes('ns/before') && elector.isLeader && seen.includes('before'));

    await redis.failOver();

    const eventually = { intervalMs: 50 };
    await waitFor(
      () =>
        queue.add('ns/after').then(
          () => true,
          () => false,
        ),
      eventually,
    );
    await waitFor(() => worked.includes('ns/after'), eventually);
    await waitFor(() => elector.isLeader, eventually);
    let count = 0;
    await waitFor(async () => {
      await create(`after-${++count}`).catch(() => undefined);
      return seen.some((name) => name.startsWith('after'));
    }, eventually);
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    stop.abort();
    await Promise.all([...running, watching]);
    await Promise.all([queue.close(), actors.close()]);
    lock.close();
  });
});

describe('when Sentinels fail over, and everybody loses sight of everybody at once,', () => {
  it('nobody is taken for dead: the leader leads on, and can be seen at the new master', async () => {
    const redis = await startSentinelTrio();
    const keyPrefix = `${randomUUID()}:`;
    let depositions = 0;
    const all = ['a', 'b', 'c'].map((identity) => {
      const lock = new RedisResourceLock({ url: redis.url, keyPrefix, identity });
      const stop = new AbortController();
      const elector = new LeaderElector({
        lock,
        witness: new RedisHolderWitness({ links: lock.links, identity, clock }),
        callbacks: {
          onStartedLeading: (signal) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
          onStoppedLeading: () => undefined,
          onNewLeader: () => undefined,
        },
        metrics: { ...noLeaderElectionMetrics, deposed: () => depositions++ },
        // Longer than a failover takes: by expiry alone nothing would happen either.
        options: { leaseDurationMs: 60_000, renewDeadlineMs: 50_000 },
      });
      const running = elector.run(stop.signal);
      const end = async (): Promise<void> => {
        stop.abort();
        await running;
        lock.close();
      };
      return { elector, end, lock };
    });
    const leader = await waitFor(() => all.find(({ elector }) => elector.isLeader));
    const placeOf = async (): Promise<string> =>
      (await leader.lock.get().catch(() => undefined))?.witness ?? '';
    const eventually = { intervalMs: 50 };
    const before = await waitFor(placeOf, eventually);
    await redis.failOver();
    const after = await waitFor(async () => {
      const place = await placeOf();
      return place !== before && place;
    }, eventually);
    expect(after).not.toBe(before);
    expect(leader.elector).toMatchObject({ isLeader: true, epoch: 1 });
    expect(depositions).toBe(0);
    for (const { end } of all) await end();
    await redis.stop();
  });
});

describe('a server that has become a replica', () => {
  it('is left: the link is built again, and finds the master that answers there', async () => {
    const [old, master] = [await startTestRedisServer(), await startTestRedisServer()];
    const admin = new Redis(old.url);
    const connection = createRedisConnection({ url: old.url, connectionName: 'test' });
    await connection.set('key', 'value');
    const { hostname, port } = new URL(master.url);
    await admin.replicaof(hostname, Number(port));
    let reconnects = 0;
    connection.on('connect', () => reconnects++);
    const write = connection.set('key', 'later').catch((error: Error) => error.message);
    await waitFor(() => reconnects > 0);
    await admin.call('REPLICAOF', 'NO', 'ONE');
    const outcome = await write;
    expect(outcome === 'OK' || /READONLY|retries|timed out/.test(outcome)).toBe(true);
    await waitFor(() =>
      connection.set('key', 'again').then(
        (answer) => answer === 'OK',
        () => false,
      ),
    );
    connection.disconnect();
    admin.disconnect();
    await Promise.all([old.stop(), master.stop()]);
  });
});

describe('the check at the start refuses, in one line without the password,', () => {
  const check = (url: string, timeoutMs = 300): Promise<string> =>
    assertUsableRedis(url, { clock, timeoutMs }).then(
      () => 'content',
      (error: Error) => error.message,
    );

  it('nobody there', async () => {
    const says = await check('redis://:hunter2@127.0.0.1:1');
    expect(says).toMatch(/^Redis at 127\.0\.0\.1:1 .*ECONNREFUSED/);
    expect(says).not.toContain('hunter2');
    expect(await check('redis+cluster://:hunter2@127.0.0.1:1')).toMatch(/^Redis at redis\+cluster:/);
    expect(await check('redis+sentinel://:hunter2@127.0.0.1:1/rk')).toMatch(/^Redis at redis\+sentinel:/);
  });

  it('an eviction policy, a replica, a Cluster that is none', async () => {
    const server = await startTestRedisServer();
    const admin = new Redis(server.url);
    expect(await check(server.url.replace('redis:', 'redis+cluster:'))).toMatch(/cluster support disabled/);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await check(server.url)).toMatch(/evicts keys \(maxmemory-policy allkeys-lru\)/);
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await check(server.url)).toBe('content');
    const { hostname, port } = new URL(inject('redisUrl'));
    await admin.replicaof(hostname, Number(port));
    expect(await check(server.url)).toMatch(/is a replica/);
    admin.disconnect();
    await server.stop();
  });

  it('a wrong password, a missing CA, an unknown CA, and TLS without its scheme', async () => {
    const tls = await startTlsRedis();
    const wrong = tls.url.replace(encodeURIComponent(tls.password), 'hunter2');
    const says = await check(wrong, 20_000);
    expect(says).toMatch(/WRONGPASS/);
    expect(says).not.toContain('hunter2');
    expect(await check(tls.url.replace(/ca=.*/, 'ca=/nowhere.pem'))).toMatch(
      /ca file \/nowhere.pem cannot be read/,
    );
    expect(await check(tls.url.replace(/\?.*/, ''), 20_000)).toMatch(/certificate/);
    expect(await check(tls.url.replace('rediss', 'redis').replace(/\?.*/, ''))).not.toBe('content');
    await tls.stop();
  });

  it("a Cluster's node that is named as a server", async () => {
    const cluster = await startRedisCluster();
    const node = cluster.url.replace('redis+cluster', 'redis').replace(/,.*/, '');
    expect(await check(node)).toMatch(/redis\+cluster:\/\//);
    await cluster.stop();
  });
});

describe('a login that fails', () => {
  it('is logged without the password', async () => {
    const tls = await startTlsRedis();
    const lines: string[] = [];
    const log = (message: string, fields?: LogFields) =>
      void lines.push(`${message} ${JSON.stringify(fields)}`);
    const logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
    const url = tls.url.replace(encodeURIComponent(tls.password), 'hunter2');
    const connection = createRedisConnection({ url, connectionName: 'test', logger });
    await expect(connection.get('test')).rejects.toThrow();
    await waitFor(() => lines.length > 0);
    expect(lines.join('\n')).toContain('WRONGPASS');
    expect(lines.join('\n')).not.toContain('hunter2');
    connection.disconnect();
    await tls.stop();
  });
});
