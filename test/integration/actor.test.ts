import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { RedisActorRuntime } from '../../src/actor/index.js';
import { FakeClock, SystemClock } from '../../src/clock/index.js';
import { runActorContract } from '../../src/testing/actor-contract.js';

const clock = new SystemClock();
const actorKey = (prefix: string, controller: string, key: string): string =>
  `{${prefix}:actor:${controller}:${key}}`;

runActorContract('RedisActorRuntime', async (options) => {
  const keyPrefix = randomUUID();
  const redisUrl = inject('redisUrl');
  const redis = new Redis(redisUrl);
  const runtimes: RedisActorRuntime[] = [];
  const make = (ownClock: FakeClock | SystemClock): RedisActorRuntime => {
    const runtime = new RedisActorRuntime({ redisUrl, keyPrefix, clock: ownClock, options });
    runtimes.push(runtime);
    return runtime;
  };
  return {
    runtime: () => make(clock),
    frozenRuntime: () => make(new FakeClock()),
    async setStateVersion(controller, key, version) {
      await redis.hset(actorKey(keyPrefix, controller, key), 'v', version);
    },
    pass: (ms) => clock.sleep(ms),
    async close() {
      await Promise.all(runtimes.map((runtime) => runtime.close()));
      redis.disconnect();
    },
  };
});

describe('RedisActorRuntime: what stays in Redis', () => {
  const options = { lockDurationMs: 400, idleTtlMs: 4000 };
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

  it('never vanishes while intents are stored, whatever is recorded meanwhile', async () => {
    const key = actorKey(prefix, 'replicaset', 'ns/a');
    await runtime.activate('replicaset', 'ns/a', signal, (activation) => activation.storeIntents(['web-1']));
    expect(await redis.pttl(key)).toBe(-1);
    await runtime.recordCauses('replicaset', 'ns/a', { pods: '1' });
    await runtime.activate('replicaset', 'ns/a', signal, async () => {
      expect(await redis.pttl(key)).toBe(-1);
    });
    expect(await redis.pttl(key)).toBe(-1);
    await runtime.activate('replicaset', 'ns/a', signal, async (a) => a.clearIntentsOnRelease());
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('compares resourceVersions longer than a double can hold', async () => {
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409931' });
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409932' });
    await runtime.recordCauses('deployment', 'ns/a', { pods: '90071992547409930' });
    const seen = await runtime.activate('deployment', 'ns/a', signal, async (a) => a.mustHaveSeen);
    expect(seen).toEqual({ pods: '90071992547409932' });
  });

  it('is made for fast activations: acquire and release of an idle key', async () => {
    await runtime.activate('deployment', 'ns/warm', signal, async () => undefined);
    const startedAt = clock.monotonicNow();
    for (let index = 0; index < 200; index++) {
      await runtime.activate('deployment', `ns/${index}`, signal, async () => undefined);
    }
    const perActivationMs = (clock.monotonicNow() - startedAt) / 200;
    console.log(`one activation without work: ${perActivationMs.toFixed(2)} ms`);
    expect(perActivationMs).toBeLessThan(20);
  });
});
