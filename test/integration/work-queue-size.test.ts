import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

const DAY_MS = 86_400_000;

describe('the size of a queue in Redis does not depend on how many keys there ever were', () => {
  const clock = new SystemClock();
  let prefix: string;
  let redis: Redis;
  let queue: BullMqWorkQueue;

  beforeEach(async () => {
    prefix = randomUUID();
    redis = new Redis(inject('redisUrl'));
    queue = new BullMqWorkQueue({ name: 'test', redisUrl: inject('redisUrl'), keyPrefix: prefix, clock });
    await queue.counts();
  });

  afterEach(async () => {
    await queue.close();
    redis.disconnect();
  });

  /** The elements of all keys of the queue, except of BullMQ's stream, whose length is limited. */
  async function elements(): Promise<Record<string, number>> {
    const sizes: Record<string, number> = {};
    const sizeOf: Record<string, (key: string) => Promise<number>> = {
      zset: (key) => redis.zcard(key),
      hash: (key) => redis.hlen(key),
      list: (key) => redis.llen(key),
    };
    for (const key of await redis.keys(`{${prefix}*`)) {
      const size = await sizeOf[await redis.type(key)]?.(key);
      if (size !== undefined) sizes[key] = size;
    }
    return sizes;
  }

  const delayedJobs = (): Promise<number> => redis.zcard(`{${prefix}:queue:test}:test:delayed`);

  /** The remains of many keys after `use`, beside those of one. */
  async function leftBy(use: (key: string) => Promise<void>): Promise<Record<string, number>> {
    await use('ns/first');
    const before = await elements();
    for (let index = 0; index < 50; index++) await use(`ns/job-${index}`);
    const after = await elements();
    return Object.fromEntries(Object.entries(after).filter(([key, size]) => size !== before[key]));
  }

  it('if timers are dropped by a run that ends well', async () => {
    const left = await leftBy(async (key) => {
      await queue.addAfter(key, DAY_MS, { reason: 'requeue' });
      await queue.forget(key);
    });
    expect(left).toEqual({});
    expect(await delayedJobs()).toBe(0);
  });

  it('if timers give way to earlier ones, which are dropped', async () => {
    const left = await leftBy(async (key) => {
      await queue.addAfter(key, 2 * DAY_MS, { reason: 'requeue', links: [] });
      await queue.addAfter(key, DAY_MS, { reason: 'requeue' });
      expect(await delayedJobs()).toBe(1);
      await queue.forget(key);
    });
    expect(left).toEqual({});
  });

  it('if keys are purged', async () => {
    const left = await leftBy(async (key) => {
      await queue.addAfter(key, DAY_MS, { reason: 'requeue' });
      expect(await queue.purge(key)).toBe(true);
    });
    expect(left).toEqual({});
  });

  it('if timers fire before their wake-up jobs do', async () => {
    const left = await leftBy(async (key) => {
      await queue.addAfter(key, DAY_MS);
      const due = await redis.zscore(`{${prefix}:queue:test}:state:timers`, key);
      await queue.fireTimer(key, due ?? '');
      await queue.purge(key);
    });
    expect(left).toEqual({});
    expect(await delayedJobs()).toBeLessThanOrEqual(1);
  });

  it('if keys run, fail, wait and run again', async () => {
    const runs = new Map<string, number>();
    const stop = new AbortController();
    const consumer = new BullMqWorkQueueConsumer({ queue });
    const consuming = consumer.run(
      async ({ key }) => {
        const run = (runs.get(key) ?? 0) + 1;
        runs.set(key, run);
        if (run === 1) await queue.addRateLimited(key, new Error('refused'));
        else if (run === 2) await queue.addAfter(key, DAY_MS, { reason: 'requeue' });
        else await queue.forget(key);
      },
      { concurrency: 10 },
      stop.signal,
    );
    const useAll = async (keys: readonly string[]): Promise<void> => {
      for (const key of keys) await queue.add(key);
      await waitFor(() => keys.every((key) => runs.get(key) === 2));
      for (const key of keys) await queue.add(key);
      await waitFor(() => keys.every((key) => runs.get(key) === 3));
      await waitFor(async () => (await queue.counts()).active === 0);
    };
    await useAll(['ns/first']);
    const before = await elements();
    await useAll(Array.from({ length: 30 }, (_, index) => `ns/job-${index}`));
    const after = await elements();
    stop.abort();
    await consuming;
    expect(await delayedJobs()).toBe(0);
    expect(Object.keys(after).filter((key) => !(key in before))).toEqual([]);
    expect(Object.keys(after).filter((key) => (after[key] ?? 0) > (before[key] ?? 0) + 1)).toEqual([]);
  });
});
