import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Activation, ActorOptions, ActorRuntime } from '../../src/runtime/activation/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import { RedisActorRuntime } from '../../src/redis/index.js';
import { RedisActorSteps } from '../../src/redis/activation/redis-activation-queue.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import type { ActorHarness } from '../../src/testing/actor-contract.js';
import { runActorContract } from '../../src/testing/actor-contract.js';
import { MovedTime } from '../support/moved-time.js';

const clock = new SystemClock();
const actorKey = (prefix: string, controller: string, key: string): string =>
  `{${prefix}:actor:${controller}:${key}}`;

/** Longer than any pause of the machine: time is moved. */
const LOCKS = { lockDurationMs: 60_000 };

runActorContract('RedisActorRuntime', (options) => makeHarness(options, (runtime) => runtime), LOCKS);

runActorContract(
  'RedisActorRuntime whose locks are asked for beforehand',
  (options) =>
    makeHarness(options, (runtime, dependencies) => new RuntimeWithEarlyLocks(runtime, dependencies)),
  LOCKS,
);

interface Dependencies {
  readonly keyPrefix: string;
  readonly ownClock: FakeClock | SystemClock;
  readonly redis: Redis;
  readonly options: ActorOptions;
}

/** Takes each lock by the call that a queue would send with its own. */
class RuntimeWithEarlyLocks implements ActorRuntime {
  constructor(
    private readonly runtime: ActorRuntime,
    private readonly dependencies: Dependencies,
  ) {}

  async activate<R>(
    ...[controller, key, signal, work, activateOptions]: Parameters<ActorRuntime['activate']>
  ): Promise<R> {
    const { keyPrefix, options, ownClock, redis } = this.dependencies;
    const steps = new RedisActorSteps({ controller, keyPrefix, clock: ownClock, options });
    const { atEnd, call, read } = steps.acquire(key, async () => undefined);
    const { early } = read(await call.script.run(redis, call.keys, call.args), key);
    const withEarly = { ...activateOptions, early };
    const result = (await this.runtime.activate(controller, key, signal, work, withEarly)) as R;
    // There is no queue that would release the lock with the end of the run.
    await atEnd?.()?.alone();
    return result;
  }

  recordCauses(...args: Parameters<ActorRuntime['recordCauses']>): Promise<void> {
    return this.runtime.recordCauses(...args);
  }
}

async function makeHarness(
  options: ActorOptions,
  wrap: (runtime: ActorRuntime, dependencies: Dependencies) => ActorRuntime,
): Promise<ActorHarness> {
  const keyPrefix = randomUUID();
  const redisUrl = inject('redisUrl');
  const redis = new Redis(redisUrl);
  const time = new MovedTime(redisUrl, `{${keyPrefix}:actor:*`, LOCKS.lockDurationMs / 24);
  const runtimes: RedisActorRuntime[] = [];
  const make = (ownClock: FakeClock | SystemClock): ActorRuntime => {
    const runtime = new RedisActorRuntime({ redisUrl, keyPrefix, clock: ownClock, options });
    runtimes.push(runtime);
    return wrap(runtime, { keyPrefix, ownClock, redis, options });
  };
  return {
    runtime: () => make(time.clock),
    frozenRuntime: () => make(new FakeClock()),
    async setStateVersion(controller, key, version) {
      await redis.hset(actorKey(keyPrefix, controller, key), 'v', version);
    },
    pass: (ms) => time.pass(ms),
    async close() {
      await Promise.all(runtimes.map((runtime) => runtime.close()));
      redis.disconnect();
      time.close();
    },
  };
}

describe('RedisActorRuntime: what stays in Redis', () => {
  const options = { lockDurationMs: 400, idleTtlMs: 4000, intentTtlMs: 8000, settledTtlMs: 4000 };
  const signal = new AbortController().signal;
  let redis: Redis;
  let prefix: string;
  let runtime: RedisActorRuntime;

  beforeEach(() => {
    prefix = randomUUID();
    redis = new Redis(inject('redisUrl'));
    runtime = new RedisActorRuntime({ redisUrl: inject('redisUrl'), keyPrefix: prefix, clock, options });
  });

  afterEach(async () => {
    await runtime.close();
    redis.disconnect();
  });

  it('vanishes some time after the last activation or cause', async () => {
    await runtime.activate('deployment', 'ns/a', signal, async (a) => a.recordOwnWrite('pods', '1'));
    await runtime.recordCauses('deployment', 'ns/b', { pods: '1' });
    for (const key of ['ns/a', 'ns/b']) {
      const ttl = await redis.pttl(actorKey(prefix, 'deployment', key));
      expect(ttl).toBeGreaterThan(3000);
      expect(ttl).toBeLessThanOrEqual(4000);
    }
  });

  it('vanishes soon after an activation that left nothing open, but not after a failed one or with a write that has no answer', async () => {
    const idleTtlMs = 3_600_000;
    const settledTtlMs = 60_000;
    const long = new RedisActorRuntime({
      redisUrl: inject('redisUrl'),
      keyPrefix: prefix,
      clock,
      options: { idleTtlMs, settledTtlMs },
    });
    const ttlAfter = async (work: (a: Activation) => void): Promise<number> => {
      await long.activate('deployment', 'ns/a', signal, async (a) => work(a)).catch(() => undefined);
      return redis.pttl(actorKey(prefix, 'deployment', 'ns/a'));
    };
    const unanswered = { verb: 'delete', type: Pod, ref: { namespace: 'ns', name: 'a' } } as const;
    try {
      const failed = await ttlAfter(() => {
        throw new Error('the cache is behind');
      });
      expect(failed).toBeGreaterThan(idleTtlMs / 2);
      expect(await ttlAfter((a) => a.recordOwnWrite('pods', '1'))).toBeLessThanOrEqual(settledTtlMs);
      const late = await ttlAfter((a) =>
        a.noteUnanswered({ ...unanswered, mayBeUnderWay: true, notedAtMs: 1 }),
      );
      expect(late).toBeGreaterThan(idleTtlMs / 2);
    } finally {
      await long.close();
    }
  });

  it('vanishes some time after its last use also with intents, which an earlier release kept forever', async () => {
    const key = actorKey(prefix, 'replicaset', 'ns/a');
    const soon = async (): Promise<void> => {
      const ttl = await redis.pttl(key);
      expect(ttl).toBeGreaterThan(7000);
      expect(ttl).toBeLessThanOrEqual(8000);
      await redis.persist(key);
    };
    await runtime.activate('replicaset', 'ns/a', signal, async (activation) => {
      await activation.storeIntents(['web-1']);
      await soon();
    });
    await soon();
    await runtime.recordCauses('replicaset', 'ns/a', { pods: '1' });
    await soon();
    await runtime.activate('replicaset', 'ns/a', signal, async () => undefined);
    await soon();
  });

  it('compares resourceVersions longer than a double can hold', async () => {
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409931' });
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409932' });
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409930' });
    const seen = await runtime.activate('deployment', 'ns/a', signal, async (a) => a.mustHaveSeen);
    expect(seen).toEqual({ pods: '90071992547409932' });
  });
});
