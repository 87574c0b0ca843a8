import { randomUUID } from 'node:crypto';
import { describe, inject } from 'vitest';
import { runKeyStateContract } from '../../src/testing/key-state-contract.js';
import { isNightly, propertyRuns } from '../../src/testing/property-runs.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import { MovedTime } from '../support/moved-time.js';
import type { KeyStateHarness } from '../../src/testing/work-queue-harness.js';
import type { WorkQueueOptions } from '../../src/runtime/work-queue/index.js';
import type { BullMqWorkQueueDependencies } from '../../src/redis/index.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer, RedisActivationQueue } from '../../src/redis/index.js';

/**
 * BullMQ renews locks by the machine's clock. So long, no pause of that is taken for the death of a worker; a replica may not have it.
 */
const LOCK_MS = 600_000;
/** Less than any time that the contract names. */
const SLICE_MS = 5;

type QueueClass = new (dependencies: BullMqWorkQueueDependencies) => BullMqWorkQueue;

describe.each([
  { name: 'BullMqWorkQueue', Queue: BullMqWorkQueue },
  { name: 'RedisActivationQueue, which takes the locks of actors as well', Queue: RedisActivationQueue },
])('$name', ({ name, Queue }) => {
  runWorkQueueContract(name, makeHarness(Queue), {
    ...propertyRuns({ gate: 5, nightly: 30 }),
    endOnFailure: true,
  });
  runKeyStateContract(name, makeHarness(Queue), { coverage: isNightly ? 'sorts' : 'parts' });
});

function makeHarness(Queue: QueueClass): (options?: WorkQueueOptions) => Promise<KeyStateHarness> {
  return async (options) => {
    const keyPrefix = randomUUID();
    const redisUrl = inject('redisUrl');
    const time = new MovedTime(redisUrl, `*${keyPrefix}*`, SLICE_MS);
    const queues: BullMqWorkQueue[] = [];
    const queue = (): BullMqWorkQueue => {
      const made = new Queue({ name: 'test', redisUrl, keyPrefix, clock: time.clock, options });
      Object.assign(made, { options: { ...made.options, lockDurationMs: LOCK_MS } });
      queues.push(made);
      return made;
    };
    return {
      queue,
      consumer: () => new BullMqWorkQueueConsumer({ queue: queue() }),
      until: (condition, withinMs = 30_000) => time.until(condition, withinMs),
      pass: (ms) => time.pass(ms),
      workFor: (ms) => time.clock.sleep(ms),
      async fire(key) {
        await time.pass(2);
        const [any] = queues;
        const due = (await any?.inspectKey(key))?.delayed?.dueMs;
        await any?.fireTimer(key, String(due));
      },
      async close() {
        await Promise.all(queues.map((made) => made.close()));
        time.close();
      },
    };
  };
}
