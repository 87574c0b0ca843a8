import { expect, it } from 'vitest';
import type { ActorHarness } from '../../../src/testing/actor-contract.js';
import { runActorContract } from '../../../src/testing/actor-contract.js';
import { runClusterClaimsContract } from '../../../src/testing/cluster-claims-contract.js';
import { runHolderWitnessContract } from '../../../src/testing/holder-witness-contract.js';
import { runResourceLockContract } from '../../../src/testing/resource-lock-contract.js';
import { FakeClock } from '../../../src/machinery/clock/index.js';
import { createRedisConnection } from '../../../src/redis/connection/index.js';
import {
  RedisActorRuntime,
  RedisHolderWitness,
  RedisLeaseLinks,
  RedisResourceLock,
} from '../../../src/redis/index.js';
import { RedisSlotTable } from '../../../src/redis/slots/redis-slot-table.js';
import { runSlotTableContract } from '../../../src/testing/slot-table-contract.js';
import { RedisClusterClaims } from '../../../src/redis/operator/redis-cluster-claims.js';
import { useSimulatedTime } from './simulated-time.js';

const time = useSimulatedTime();
let made = 0;
const prefix = (): string => `test-${++made}`;

runActorContract('RedisActorRuntime on a simulated Redis', async (options): Promise<ActorHarness> => {
  const keyPrefix = prefix();
  const redis = createRedisConnection({ url: time.server.url, connectionName: 'test' });
  const runtimes: RedisActorRuntime[] = [];
  const make = (clock: FakeClock): RedisActorRuntime => {
    const runtime = new RedisActorRuntime({ redisUrl: time.server.url, keyPrefix, clock, options });
    runtimes.push(runtime);
    return runtime;
  };
  return {
    runtime: () => make(time.clock),
    frozenRuntime: () => make(new FakeClock()),
    async setStateVersion(controller, key, version) {
      await redis.hset(`{${keyPrefix}:actor:${controller}:${key}}`, 'v', version);
    },
    pass: (ms) => time.pass(ms),
    async close() {
      await Promise.all(runtimes.map((runtime) => runtime.close()));
      redis.disconnect();
    },
  };
});

runResourceLockContract('RedisResourceLock on a simulated Redis', async () => {
  const keyPrefix = `${prefix()}:`;
  const { server } = time;
  const locks: RedisResourceLock[] = [];
  return {
    lock(identity) {
      const lock = new RedisResourceLock({ url: server.url, keyPrefix, identity });
      locks.push(lock);
      return lock;
    },
    pass: (ms) => time.pass(ms),
    async saved() {
      const before = server.snapshot();
      return async () => server.restore(before);
    },
    async stop() {
      for (const lock of locks) lock.close();
    },
  };
});

runSlotTableContract('RedisSlotTable on a simulated Redis', async () => {
  const keyPrefix = `${prefix()}:`;
  const { server } = time;
  const tables: RedisSlotTable[] = [];
  return {
    table() {
      const table = new RedisSlotTable({ url: server.url, keyPrefix });
      tables.push(table);
      return table;
    },
    dies: async (table) => table.close(),
    async saved() {
      const before = server.snapshot();
      return async () => server.restore(before);
    },
    async stop() {
      for (const table of tables) table.close();
    },
  };
});

it('a RedisSlotTable keeps its replicas when the clock of Redis jumps', async () => {
  const table = new RedisSlotTable({ url: time.server.url, keyPrefix: `${prefix()}:` });
  await table.report('x', [1]);
  const [before] = await table.members();
  for (const jumpMs of [3_600_000, -7_200_000, 3_600_000]) {
    time.clock.jumpWallClock(jumpMs);
    expect(await table.members()).toMatchObject([{ replica: 'x', current: [1], id: before?.id }]);
  }
  table.close();
});

runHolderWitnessContract('RedisHolderWitness on a simulated Redis', async () => {
  const keyPrefix = `${prefix()}:`;
  const linksOf = new Map<string, RedisLeaseLinks>();
  return {
    witness(identity) {
      const links = new RedisLeaseLinks({ url: time.server.url, keyPrefix });
      linksOf.set(identity, links);
      return new RedisHolderWitness({ links, identity, clock: time.clock });
    },
    kill: (identity) => linksOf.get(identity)?.close(),
    breakLinks: (identity) => linksOf.get(identity)?.listener.disconnect(true),
    async stop() {
      for (const links of linksOf.values()) links.close();
    },
  };
});

runClusterClaimsContract('RedisClusterClaims on a simulated Redis', async () => {
  const keyPrefix = prefix();
  const { clock, server } = time;
  const [first, second] = [0, 1].map(() =>
    createRedisConnection({ url: server.url, connectionName: 'claims' }),
  ) as [ReturnType<typeof createRedisConnection>, ReturnType<typeof createRedisConnection>];
  return {
    replicas: [
      new RedisClusterClaims({ redis: () => first, keyPrefix, clock }),
      new RedisClusterClaims({ redis: () => second, keyPrefix, clock }),
    ],
    async stop() {
      first.disconnect();
      second.disconnect();
    },
  };
});
