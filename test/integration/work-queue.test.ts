import { randomUUID } from 'node:crypto';
import { describe, inject } from 'vitest';
import { SystemClock } from '../../src/base/clock/index.js';
import { propertyRuns } from '../../src/testing/property-runs.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import type { MakeWorkQueueHarness } from '../../src/testing/work-queue-harness.js';
import type { BullMqWorkQueueDependencies } from '../../src/kit/redis.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer, RedisActorQueue } from '../../src/kit/redis.js';

const clock = new SystemClock();

type QueueClass = new (dependencies: BullMqWorkQueueDependencies) => BullMqWorkQueue;

describe.each([
  { name: 'BullMqWorkQueue', Queue: BullMqWorkQueue },
  { name: 'RedisActorQueue, which takes the locks of actors as well', Queue: RedisActorQueue },
])('$name', ({ name, Queue }) => {
  runWorkQueueContract(name, makeHarness(Queue), {
    ...propertyRuns({ gate: 5, nightly: 30 }),
    endOnFailure: true,
  });
});

function makeHarness(Queue: QueueClass): MakeWorkQueueHarness {
  return async (options) => {
    const keyPrefix = randomUUID();
    const redisUrl = inject('redisUrl');
    const queues: BullMqWorkQueue[] = [];
    const queue = (): BullMqWorkQueue => {
      const made = new Queue({ name: 'test', redisUrl, keyPrefix, clock, options });
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
  };
}
