import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { assertUsableRedis, createRedisConnection, describeRedis } from '../../src/redis/connection/index.js';
import { RedisStorage } from '../../src/apiserver/storage/index.js';
import {
  BullMqWorkQueueConsumer,
  RedisActivationQueue,
  RedisActorRuntime,
  RedisResourceLock,
} from '../../src/redis/index.js';
import type { RedisTopology, ReplicatedTopology } from '../support/redis-topologies.js';
import { startRedisCluster, startSentinelTrio, startTlsRedis } from '../support/redis-topologies.js';
import { waitFor } from '../../src/testing/wait-for.js';

const clock = new SystemClock();

interface Case {
  readonly name: string;
  readonly start: () => Promise<RedisTopology>;
}
const topologies: readonly Case[] = [
  { name: 'one server with TLS and an ACL user', start: startTlsRedis },
  { name: 'a master found by Sentinels', start: startSentinelTrio },
  { name: 'a Cluster of three masters', start: () => startRedisCluster() },
  { name: 'a Cluster with TLS and a password', start: () => startRedisCluster({ tls: true }) },
];

/** These differ between one server and a topology; test/nightly runs the whole contracts on each of them. */
describe.each(topologies)('on $name', ({ start }) => {
  let redis: RedisTopology;
  let keyPrefix: string;

  beforeAll(async () => {
    redis = await start();
    keyPrefix = `test-${randomUUID()}`;
  });
  afterAll(() => redis.stop());

  it('the check at the start is content', async () => {
    await assertUsableRedis(redis.url, { clock, timeoutMs: 60_000 });
    expect(describeRedis(redis.url)).not.toMatch(/@|pass/);
  });

  it('a key is added with its causes, and run with its lock: scripts with includes, together where they may be', async () => {
    const queue = new RedisActivationQueue({ name: 'test', redisUrl: redis.url, keyPrefix, clock });
    const actors = new RedisActorRuntime({ redisUrl: redis.url, keyPrefix, clock });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const adds = await queue.beginTerm({ epoch: 1, holder: 'a' });
    // An include merges the traces. Causes are recorded first, as in a Cluster, where the two cannot be one step.
    await actors.recordCauses('test', 'ns/a', { pods: '7' });
    await adds.add('ns/a', { traceparent: 'trace-1' });
    await adds.add('ns/a', { traceparent: 'trace-2' });
    const running = new BullMqWorkQueueConsumer({ queue }).run(
      ({ early, key, links, traceparent }, signal) =>
        actors.activate(
          'test',
          key,
          signal,
          async ({ mustHaveSeen }) => void seen.push({ mustHaveSeen, links, traceparent }),
          { early },
        ),
      { concurrency: 1 },
      stop.signal,
    );
    await waitFor(() => seen.length > 0, { what: 'the run' });
    expect(seen).toEqual([{ mustHaveSeen: { pods: '7' }, links: ['trace-2'], traceparent: 'trace-1' }]);
    stop.abort();
    await running;
    await Promise.all([queue.close(), actors.close()]);
  });

  it('a pipeline that times out between two connections is never sent, and the client goes on', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    const connection = createRedisConnection({
      url: redis.url,
      connectionName: 'test',
      commandTimeoutMs: 20,
    });
    const direct = createRedisConnection({ url: redis.url, connectionName: 'test' });
    const key = `test{${keyPrefix}}`;
    const isAnswered = () =>
      connection.get(key).then(
        () => true,
        () => false,
      );
    await waitFor(isAnswered);
    // It connects again after 50 ms.
    connection.disconnect(true);
    const results = await connection.pipeline().set(key, '1').incr(key).exec();
    expect(results?.map(([error]) => error?.message)).toEqual(['Command timed out', 'Command timed out']);
    await waitFor(isAnswered);
    expect(await direct.get(key)).toBeNull();
    expect(uncaught).toEqual([]);
    process.off('uncaughtException', note);
    for (const each of [connection, direct]) each.disconnect();
  });

  it('a lease that is released is news to the others', async () => {
    const lock = (identity: string) =>
      new RedisResourceLock({ url: redis.url, keyPrefix: `${keyPrefix}:`, identity });
    const [a, b] = [lock('a'), lock('b')];
    let news = 0;
    const unsubscribe = b.onReleased(() => news++);
    await waitFor(async () => {
      await a.tryAcquireOrRenew(600_000);
      await a.release();
      return news > 0;
    });
    expect((await b.tryAcquireOrRenew(600_000)).outcome).toBe('acquired');
    unsubscribe();
    for (const each of [a, b]) each.close();
  });

  it('an object that is written is seen by who watches', async () => {
    const storage = new RedisStorage({ url: redis.url, keyPrefix: `${keyPrefix}:` });
    const stop = new AbortController();
    const running = storage.run(stop.signal);
    const after = await storage.currentRevision();
    const key = { resource: 'pods', namespace: 'ns', name: 'a' };
    const metadata = { name: 'a', namespace: 'ns' };
    await storage.create(key, { apiVersion: 'v1', kind: 'Pod', metadata });
    const watching = storage.watch({ resource: 'pods', after }, stop.signal);
    const { value } = (await watching[Symbol.asyncIterator]().next()) as { value: unknown };
    expect(value).toMatchObject([{ key }]);
    stop.abort();
    await running;
  });
});

describe.each<{ name: string; start: () => Promise<ReplicatedTopology> }>([
  { name: 'Sentinels fail over', start: startSentinelTrio },
  {
    name: 'a master of a Cluster gives its slots to its replica',
    start: () => startRedisCluster({ replicated: true }),
  },
])('when $name', ({ start }) => {
  it('a connection goes on with the new master', async () => {
    const redis = await start();
    const connection = createRedisConnection({ url: redis.url, connectionName: 'test' });
    // One of each slot range: in a Cluster one of them moves, whichever master dies.
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);
    const written = (value: string) =>
      Promise.all(keys.map((key) => connection.set(key, value))).then(
        (answers) => answers.every((answer) => answer === 'OK'),
        () => false,
      );
    await waitFor(() => written('before'));
    await redis.failOver();
    await waitFor(() => written('after'), { what: 'the new master to take it' });
    connection.disconnect();
    await redis.stop();
  });
});
