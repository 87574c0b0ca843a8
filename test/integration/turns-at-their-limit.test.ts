import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';
import type { Priority, WorkQueue } from '../../src/runtime/work-queue/index.js';
import { MemoryWorkQueue } from '../../src/runtime/work-queue/index.js';
import { gate } from '../../src/testing/exclusive-probe.js';
import { propertyRuns } from '../../src/testing/property-runs.js';
import { waitFor } from '../../src/testing/wait-for.js';

type Adds = readonly (readonly [namespace: string, priority: Priority])[];

const FIRST = 'first/a';
/** Waits all the time: a queue in which nothing waits starts again from nothing. */
const LAST = 'last/a';
/** Nothing is aged, and maintenance happens when the test says so. */
const options = { agingMs: 600_000, maintenanceIntervalMs: 600_000 };
const clock = new SystemClock();

/** A score has 32 bits for the place of a key in its line; a queue that is never empty uses them up. */
describe('the turns of namespaces in a queue whose virtual time is at the limit of scores', () => {
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(inject('redisUrl'));
  });

  afterAll(() => redis.disconnect());

  it('are those of a new queue, for keys that wait already and for keys that are added later', async () => {
    const adds = fc.array(
      fc.tuple(
        fc.constantFrom('a', 'b', 'c'),
        fc.constantFrom<Priority[]>('high', 'normal', 'normal', 'low', 'low'),
      ),
      { minLength: 1, maxLength: 25 },
    );
    // Past half of the limit; short of it; and where no two keys would have different places.
    const ahead = fc.constantFrom(2 ** 31 + 1, 2 ** 32 - 40, 2 ** 32 + 1000);
    await fc.assert(
      fc.asyncProperty(adds, adds, ahead, async (before, after, by) => {
        const order = await orderInRedis(before, after, by);
        expect(order).toEqual(await orderInMemory(before, after));
      }),
      propertyRuns({ gate: 12, nightly: 100 }),
    );
  });

  it('are moved back only once they are past half of the limit', async () => {
    const moved = await Promise.all(
      [2 ** 31 - 1000, 2 ** 31 + 1].map(async (by) => {
        const queue = new BullMqWorkQueue({ ...aQueue(), clock });
        await queue.add(FIRST);
        await moveAhead(queue, by);
        await queue.maintain();
        const place = Number(await redis.hget(`${queue.prefix}:state:fair`, 'v1'));
        await queue.close();
        return by - place;
      }),
    );
    expect(moved).toEqual([0, 2 ** 31 + 1 - 0x10000]);
  });

  async function orderInRedis(before: Adds, after: Adds, by: number): Promise<readonly string[]> {
    const where = aQueue();
    const queue = new BullMqWorkQueue({ ...where, clock });
    const consumer = new BullMqWorkQueueConsumer({ queue: new BullMqWorkQueue({ ...where, clock }) });
    const [started, released] = [gate(), gate()];
    const order: string[] = [];
    const over = new AbortController();
    await queue.add(FIRST);
    await queue.add(LAST, { priority: 'low' });
    await moveAhead(queue, by);
    const run = consumer.run(
      async ({ key }) => {
        order.push(key);
        started.open();
        await released.passed;
      },
      { concurrency: 1 },
      over.signal,
    );
    await started.passed;
    await addAll(queue, before, 0);
    await queue.maintain();
    await addAll(queue, after, before.length);
    released.open();
    await waitFor(() => order.length === 2 + before.length + after.length);
    over.abort();
    await run;
    await queue.close();
    return order;
  }

  /** As if the queue had never been empty for that long. */
  async function moveAhead({ prefix, name }: BullMqWorkQueue, by: number): Promise<void> {
    const state = (part: string): string => `${prefix}:state:${part}`;
    for (const [key, text] of Object.entries(await redis.hgetall(state('pending')))) {
      const run = JSON.parse(text) as unknown[];
      run[4] = Number(run[4]) + by;
      await redis.hset(state('pending'), key, JSON.stringify(run));
    }
    for (const field of ['v1', 'v3', '2:first', '3:last']) await redis.hincrby(state('fair'), field, by);
    const scores = `${prefix}:${name}:prioritized`;
    for (const job of await redis.zrange(scores, '0', '-1')) {
      const score = Number(await redis.zscore(scores, job));
      const last = 2 ** 32 * Math.floor(score / 2 ** 32 + 1) - 1;
      await redis.zadd(scores, Math.min(score + by, last), job);
    }
  }

  function aQueue() {
    return { name: 'test', redisUrl: inject('redisUrl'), keyPrefix: randomUUID(), options };
  }
});

async function orderInMemory(before: Adds, after: Adds): Promise<readonly string[]> {
  const queue = new MemoryWorkQueue({ name: 'test', clock, options });
  await queue.add(FIRST);
  await queue.add(LAST, { priority: 'low' });
  const order = [queue.takeNext()?.key ?? ''];
  await addAll(queue, before, 0);
  await addAll(queue, after, before.length);
  queue.done(FIRST);
  for (let next = queue.takeNext(); next; next = queue.takeNext()) {
    order.push(next.key);
    queue.done(next.key);
  }
  return order;
}

async function addAll(queue: WorkQueue, adds: Adds, first: number): Promise<void> {
  for (const [index, [namespace, priority]] of adds.entries())
    await queue.add(`${namespace}/${first + index}`, { priority });
}
