import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActorOptions } from '../../src/runtime/activation/index.js';
import { RedisActorRuntime } from '../../src/redis/index.js';
import { RedisStorage } from '../../src/apiserver/storage/index.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { RedisResourceLock } from '../../src/redis/index.js';
import { RedisSlotTable } from '../../src/redis/slots/redis-slot-table.js';
import { assertUsableRedis, createRedisConnection, describeRedis } from '../../src/redis/connection/index.js';
import { savedKey } from '../integration/support/saved-key.js';
import { redisWitnesses } from '../integration/support/redis-witnesses.js';
import type { ActorHarness } from '../../src/testing/actor-contract.js';
import { runActorContract } from '../../src/testing/actor-contract.js';
import { runHolderWitnessContract } from '../../src/testing/holder-witness-contract.js';
import type { RedisTopology } from '../support/redis-topologies.js';
import { startRedisCluster, startSentinelTrio, startTlsRedis } from '../support/redis-topologies.js';
import { runResourceLockContract } from '../../src/testing/resource-lock-contract.js';
import { runSlotTableContract } from '../../src/testing/slot-table-contract.js';
import { runStorageContract } from '../../src/testing/storage-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';

const clock = new SystemClock();
/** Ten candidates make all their handshakes at once: on a busy machine that takes longer than an elector waits for one answer. */
const commandTimeoutMs = 20_000;

const topologies: { name: string; start: () => Promise<RedisTopology> }[] = [
  { name: 'one server with TLS and an ACL user', start: startTlsRedis },
  { name: 'a master found by Sentinels', start: startSentinelTrio },
  { name: 'a Cluster of three masters', start: () => startRedisCluster() },
  { name: 'a Cluster with TLS and a password', start: () => startRedisCluster({ tls: true }) },
];

describe.each(topologies)('on $name', ({ start }) => {
  let redis: RedisTopology;
  const newPrefix = (): string => `test-${randomUUID()}`;

  beforeAll(async () => {
    redis = await start();
  }, 120_000);

  afterAll(() => redis.stop());

  it('the check at the start is content', async () => {
    await assertUsableRedis(redis.url, { clock, timeoutMs: 30_000 });
    expect(describeRedis(redis.url)).not.toMatch(/@|pass/);
  });

  runResourceLockContract('RedisResourceLock', async () => {
    const keyPrefix = `${newPrefix()}:`;
    const made: RedisResourceLock[] = [];
    return {
      lock(identity) {
        const lock = new RedisResourceLock({ url: redis.url, keyPrefix, identity, commandTimeoutMs });
        made.push(lock);
        return lock;
      },
      pass: (ms) => clock.sleep(ms),
      saved: () => savedKey(redis.url, `${keyPrefix}lease:leader`),
      async stop() {
        for (const lock of made) lock.close();
      },
    };
  });

  runSlotTableContract('RedisSlotTable', async () => {
    const keyPrefix = `${newPrefix()}:`;
    const made: RedisSlotTable[] = [];
    return {
      table() {
        const table = new RedisSlotTable({ url: redis.url, keyPrefix, commandTimeoutMs });
        made.push(table);
        return table;
      },
      dies: async (table) => table.close(),
      saved: () => savedKey(redis.url, `${keyPrefix}slots`),
      async stop() {
        for (const table of made) table.close();
      },
    };
  });

  runHolderWitnessContract('RedisHolderWitness', async () => redisWitnesses(redis.url, `${newPrefix()}:`));

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
        async until(condition, withinMs = 30_000) {
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
    const storage = new RedisStorage({
      watchBatchMs: 0,
      ...options,
      url: redis.url,
      keyPrefix: `${newPrefix()}:`,
    });
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

  const makeActors = async (options: ActorOptions): Promise<ActorHarness> => {
    const keyPrefix = newPrefix();
    const admin = createRedisConnection({ url: redis.url, connectionName: 'test' });
    // Connected before the test begins: its locks are shorter than a TLS handshake on a busy machine.
    const connected = async (ownClock: FakeClock | SystemClock): Promise<RedisActorRuntime> => {
      const runtime = new RedisActorRuntime({ redisUrl: redis.url, keyPrefix, clock: ownClock, options });
      await waitFor(() =>
        runtime.ping().then(
          () => true,
          () => false,
        ),
      );
      await waitFor(() =>
        runtime.recordCauses('test', 'warm-up', {}).then(
          () => true,
          () => false,
        ),
      );
      return runtime;
    };
    const ready = await Promise.all([clock, clock, clock, clock].map(connected));
    const frozen = await Promise.all([new FakeClock(), new FakeClock()].map(connected));
    const next = (pool: RedisActorRuntime[]): RedisActorRuntime => {
      const [first] = pool;
      if (!first) throw new Error('the test needs more runtimes than were connected');
      pool.push(pool.shift() as RedisActorRuntime);
      return first;
    };
    return {
      runtime: () => next(ready),
      frozenRuntime: () => next(frozen),
      async setStateVersion(controller, key, version) {
        await admin.hset(`{${keyPrefix}:actor:${controller}:${key}}`, 'v', version);
      },
      pass: (ms) => clock.sleep(ms),
      async close() {
        await Promise.all([...ready, ...frozen].map((runtime) => runtime.close()));
        admin.disconnect();
      },
    };
  };

  // As a replica's: time is real here, and the machine may be busy.
  runActorContract('RedisActorRuntime', makeActors, { lockDurationMs: 2500 });
});
