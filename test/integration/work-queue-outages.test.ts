import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { UnqueuedSweep } from '../../src/runtime/controller/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { WorkHandler, WorkQueueOptions } from '../../src/runtime/work-queue/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/redis/index.js';
import { TcpLink } from '../support/tcp-link.js';

const clock = new SystemClock();

describe('the work queue when things go wrong', () => {
  let keyPrefix: string;
  let redis: Redis;
  let stop: AbortController;
  let ends: (() => Promise<unknown>)[];

  beforeEach(() => {
    keyPrefix = randomUUID();
    redis = new Redis(inject('redisUrl'));
    stop = new AbortController();
    ends = [];
  });

  afterEach(async () => {
    stop.abort();
    for (const end of ends.reverse()) await end();
    redis.disconnect();
  });

  const aQueue = (options?: WorkQueueOptions, redisUrl = inject('redisUrl')): BullMqWorkQueue => {
    const queue = new BullMqWorkQueue({ name: 'test', redisUrl, keyPrefix, clock, options });
    ends.push(() => queue.close());
    return queue;
  };
  const consume = (queue: BullMqWorkQueue, handler: WorkHandler): BullMqWorkQueueConsumer => {
    const consumer = new BullMqWorkQueueConsumer({ queue });
    const run = consumer.run(handler, { concurrency: 2 }, stop.signal);
    ends.push(() => run);
    return consumer;
  };
  const bullKey = (name: string): string => `{${keyPrefix}:queue:test}:test:${name}`;
  /** Leaves what an outage can leave behind: a job that is in no list, whose deduplication key holds its key back. */
  const leaveStrayBehind = async (key: string): Promise<void> => {
    await redis.hset(bullKey('77'), 'name', 'key', 'data', '{}', 'opts', '{}', 'timestamp', '1');
    await redis.set(bullKey(`de:${key}`), '77');
  };

  it('frees a key that a stray deduplication key holds back', async () => {
    const queue = aQueue({ strayAfterMs: 100 });
    await leaveStrayBehind('ns/a');
    await queue.add('ns/a', { reason: 'user-change', priority: 'high' });
    expect((await queue.counts()).waiting).toBe(0);
    await clock.sleep(150);
    expect(await queue.sweepStray()).toBe(1);
    expect(await queue.sweepStray()).toBe(0);
    const reasons: string[] = [];
    consume(queue, async (item) => void reasons.push(item.reason));
    await waitFor(() => reasons.length === 1);
    expect(reasons).toEqual(['user-change']);
    expect(await redis.exists(bullKey('77'))).toBe(0);
  });

  it('knows a job that is in no list for none, and one that waits or runs for one', async () => {
    const queue = aQueue();
    await leaveStrayBehind('ns/stray');
    expect(await queue.inspectKey('ns/stray')).toMatchObject({ hasJob: false });
    await queue.add('ns/a');
    expect(await queue.inspectKey('ns/a')).toMatchObject({ hasJob: true });
    let during: boolean | undefined;
    consume(queue, async ({ key }) => void (during = (await queue.inspectKey(key)).hasJob));
    await waitFor(() => during !== undefined);
    expect(during).toBe(true);
    await waitFor(async () => !(await queue.inspectKey('ns/a')).hasJob);
  });

  it('has a key back that it has lost without a trace, once the sweep of the leader has looked twice', async () => {
    const queue = aQueue({ strayAfterMs: 100, maintenanceIntervalMs: 50 });
    await queue.add('ns/lost');
    const keysOfQueue = await redis.keys(`{${keyPrefix}:queue:test}:*`);
    await redis.del(...keysOfQueue);
    await leaveStrayBehind('ns/lost');
    let found = 0;
    const sweep = new UnqueuedSweep({
      controller: 'test',
      queue,
      due: () => [{ ref: { namespace: 'ns', name: 'lost' }, resourceVersion: '1' }],
      clock,
      logger: silentLogger,
      metrics: { unqueued: () => found++ },
    });
    expect(await sweep.look(queue, stop.signal)).toEqual([]);
    expect(await sweep.look(queue, stop.signal)).toEqual(['ns/lost']);
    expect(await sweep.look(queue, stop.signal)).toEqual([]);
    expect(found).toBe(1);
    const reasons: string[] = [];
    consume(queue, async (item) => void reasons.push(item.reason));
    await waitFor(() => reasons.length === 1);
    expect(reasons).toEqual(['sweep']);
  });

  it('is swept by its consumer without being asked', async () => {
    const queue = aQueue({ strayAfterMs: 100, maintenanceIntervalMs: 50 });
    await leaveStrayBehind('ns/a');
    const keys: string[] = [];
    consume(queue, async (item) => void keys.push(item.key));
    await queue.add('ns/a');
    await waitFor(() => keys.length === 1);
  });

  it('leaves keys alone that only wait long', async () => {
    const queue = aQueue({ strayAfterMs: 100 });
    await queue.add('ns/a');
    await clock.sleep(150);
    expect(await queue.sweepStray()).toBe(0);
    expect((await queue.counts()).waiting).toBe(1);
  });

  it('fires a timer whose wake-up job was lost', async () => {
    const queue = aQueue({ maintenanceIntervalMs: 100 });
    const keys: string[] = [];
    await queue.addAfter('ns/a', 100);
    await redis.del(bullKey('delayed'));
    consume(queue, async (item) => void keys.push(item.key));
    await waitFor(() => keys.length === 1);
    await waitFor(async () => (await queue.counts()).delayed === 0);
  });

  it('takes a key although the worker that was woken for it died', async () => {
    const queue = aQueue({ maintenanceIntervalMs: 100 });
    await queue.counts();
    const doomed = new Redis(inject('redisUrl'));
    const popped = doomed.bzpopmin(bullKey('marker'), 0);
    const keys: string[] = [];
    const consumer = consume(queue, async (item) => void keys.push(item.key));
    await waitFor(() => consumer.isConsuming);
    await waitFor(async () => /cmd=bzpopmin/.test(String(await redis.client('LIST'))));
    await queue.add('ns/a');
    expect(await popped).not.toBeNull();
    doomed.disconnect();
    await waitFor(() => keys.length === 1);
  });

  it('rejects adds while Redis is away, and goes on by itself afterwards', async () => {
    const link = await TcpLink.to(inject('redisUrl'));
    ends.push(() => link.close());
    const queue = aQueue({}, link.url);
    const keys: string[] = [];
    const consumer = consume(queue, async (item) => void keys.push(item.key));
    await queue.add('ns/before');
    await waitFor(() => keys.length === 1);
    link.cut();
    await expect(queue.add('ns/during')).rejects.toThrow();
    await waitFor(() => !consumer.isConsuming);
    link.heal();
    await waitFor(async () =>
      queue.add('ns/after').then(
        () => true,
        () => false,
      ),
    );
    await waitFor(() => keys.includes('ns/after') && consumer.isConsuming);
  });

  it('comes up although Redis is not there yet', async () => {
    const link = await TcpLink.to(inject('redisUrl'));
    ends.push(() => link.close());
    link.cut();
    const queue = aQueue({}, link.url);
    const keys: string[] = [];
    consume(queue, async (item) => void keys.push(item.key));
    await expect(queue.add('ns/a')).rejects.toThrow();
    link.heal();
    await waitFor(async () =>
      queue.add('ns/a').then(
        () => true,
        () => false,
      ),
    );
    await waitFor(() => keys.includes('ns/a'));
  });

  it('aborts a handler whose lock cannot be renewed, and runs its key again', async () => {
    const link = await TcpLink.to(inject('redisUrl'));
    ends.push(() => link.close());
    const queue = aQueue({ lockDurationMs: 600, stalledIntervalMs: 100 }, link.url);
    const reasons: unknown[] = [];
    let runs = 0;
    consume(queue, async (_item, signal) => {
      runs += 1;
      if (runs > 1) return;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      reasons.push(signal.reason);
    });
    await queue.add('ns/a');
    await waitFor(() => runs === 1);
    link.cut();
    await waitFor(() => reasons.length === 1);
    expect(reasons[0]).toMatchObject({ code: 'KEY_LOCK_LOST' });
    link.heal();
    await waitFor(() => runs === 2);
    await waitFor(async () => (await aQueue().counts()).active === 0);
  });

  it('goes on with what is added after Redis has lost everything', async () => {
    const queue = aQueue();
    const started: string[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    consume(queue, async (item) => {
      started.push(item.key);
      if (started.length === 1) await held;
    });
    await queue.add('ns/a');
    await queue.addAfter('ns/b', 60_000);
    await waitFor(() => started.length === 1);
    const lost = await redis.keys(`{${keyPrefix}:queue:test}*`);
    expect(lost.length).toBeGreaterThan(0);
    await redis.del(lost);
    release();
    await queue.add('ns/a');
    await queue.addAfter('ns/b', 10);
    await waitFor(() => started.length === 3);
    expect([...started].sort()).toEqual(['ns/a', 'ns/a', 'ns/b']);
    await waitFor(async () => {
      const { waiting, active, delayed } = await queue.counts();
      return waiting + active + delayed === 0;
    });
  });

  it('stops although Redis is away, and does not come back', async () => {
    const link = await TcpLink.to(inject('redisUrl'));
    ends.push(() => link.close());
    const queue = aQueue({}, link.url);
    const consumer = new BullMqWorkQueueConsumer({ queue });
    const run = consumer.run(async () => undefined, { concurrency: 1 }, stop.signal);
    await waitFor(() => consumer.isConsuming);
    link.cut();
    await waitFor(() => !consumer.isConsuming);
    stop.abort();
    await run;
    expect(consumer.isConsuming).toBe(false);
  });

  it('wakes a waiting worker for each key, one after the other', async () => {
    // So rarely that no sweep can be the reason.
    const queue = aQueue({ maintenanceIntervalMs: 600_000 });
    const keys: string[] = [];
    const consumer = consume(queue, async ({ key }) => void keys.push(key));
    await waitFor(() => consumer.isConsuming);
    const added = Array.from({ length: 100 }, (_, index) => `ns/${index}`);
    for (const [index, key] of added.entries()) {
      await queue.add(key);
      await waitFor(() => keys.length === index + 1, { intervalMs: 1, what: key });
    }
    expect(keys).toEqual(added);
  });
});
