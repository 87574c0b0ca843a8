import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisActorRuntime } from '../../src/actor/index.js';
import { RedisStorage } from '../../src/api-server/storage/index.js';
import { SystemClock } from '../../src/clock/index.js';
import { RedisResourceLock } from '../../src/leader-election/index.js';
import { assertUsableRedis, describeRedis } from '../../src/redis/index.js';
import type { RedisTopology } from '../../src/testing/redis-topologies.js';
import { startRedisCluster, startSentinelTrio, startTlsRedis } from '../../src/testing/redis-topologies.js';
import { runResourceLockContract } from '../../src/testing/resource-lock-contract.js';
import { runStorageContract } from '../../src/testing/storage-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/work-queue/index.js';

const clock = new SystemClock();

const topologies: { name: string; start: () => Promise<RedisTopology> }[] = [
  { name: 'one server with TLS and an ACL user', start: startTlsRedis },
  { name: 'a master found by Sentinels', start: startSentinelTrio },
  { name: 'a Cluster of three masters', start: startRedisCluster },
];

describe.each(topologies)('on $name', ({ start }) => {
  let redis: RedisTopology;
  const newPrefix = (): string => `test-${randomUUID()}`;

  beforeAll(async () => {
    redis = await start();
  });

  afterAll(() => redis.stop());

  it('the check at the start is content', async () => {
    await assertUsableRedis(redis.url, { clock, timeoutMs: 5000 });
    expect(describeRedis(redis.url)).not.toMatch(/@|pass/);
  });

  runResourceLockContract('RedisResourceLock', async () => {
    const keyPrefix = `${newPrefix()}:`;
    const made: RedisResourceLock[] = [];
    return {
      lock(identity) {
        const lock = new RedisResourceLock({ url: redis.url, keyPrefix, identity });
        made.push(lock);
        return lock;
      },
      pass: (ms) => clock.sleep(ms),
      async stop() {
        for (const lock of made) lock.close();
      },
    };
  });

  runWorkQueueContract(
    'BullMqWorkQueue',
    async (options) => {
      const keyPrefix = newPrefix();
      const queues: BullMqWorkQueue[] = [];
      const queue = (): BullMqWorkQueue => {
        const made = new BullMqWorkQueue({ name: 'test', redisUrl: redis.url, keyPrefix, clock, options });
        queues.push(made);
        return made;
      };
      return {
        queue,
        consumer: () => new BullMqWorkQueueConsumer({ queue: queue() }),
        async until(condition, withinMs = 5000) {
          await waitFor(condition, { timeoutMs: withinMs, intervalMs: 5 });
        },
        pass: (ms) => clock.sleep(ms),
        workFor: (ms) => clock.sleep(ms),
        async close() {
          await Promise.all(queues.map((made) => made.close()));
        },
      };
    },
    { numRuns: 2, endOnFailure: true },
  );

  runStorageContract('RedisStorage', async (options) => {
    const storage = new RedisStorage({ ...options, url: redis.url, keyPrefix: `${newPrefix()}:` });
    const stop = new AbortController();
    const running = storage.run(stop.signal);
    return {
      storage,
      async stop() {
        stop.abort();
        await running;
      },
    };
  });

  it('an activation remembers what the one before it wrote', async () => {
    const runtime = new RedisActorRuntime({ redisUrl: redis.url, keyPrefix: newPrefix(), clock });
    const { signal } = new AbortController();
    await runtime.recordCause('deployment', 'ns/a', 'deployments.apps', '7');
    const first = await runtime.activate('deployment', 'ns/a', signal, async (activation) => {
      await activation.storeIntents({ names: ['a'] });
      activation.recordOwnWrite('replicasets.apps', '9');
      return activation.token;
    });
    await runtime.activate('deployment', 'ns/a', signal, async ({ intents, mustHaveSeen, token }) => {
      expect(token).toBeGreaterThan(first);
      expect(intents).toEqual({ names: ['a'] });
      expect(mustHaveSeen).toEqual({ 'deployments.apps': '7', 'replicasets.apps': '9' });
    });
    await runtime.close();
  });
});
