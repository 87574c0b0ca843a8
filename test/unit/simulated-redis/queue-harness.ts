import type { WorkQueueOptions } from '../../../src/runtime/work-queue/index.js';
import type { BullMqWorkQueue, BullMqWorkQueueDependencies } from '../../../src/redis/index.js';
import { BullMqWorkQueueConsumer } from '../../../src/redis/index.js';
import type { KeyStateHarness } from '../../../src/testing/work-queue-harness.js';
import type { SimulatedTime } from './simulated-time.js';

export type QueueClass = new (dependencies: BullMqWorkQueueDependencies) => BullMqWorkQueue;

let made = 0;

/** Queues of the real BullMQ on a simulated Redis. */
export function queuesOn(
  time: SimulatedTime,
  Queue: QueueClass,
): (options?: WorkQueueOptions) => Promise<KeyStateHarness> {
  return async (options) => {
    const keyPrefix = `test-${++made}`;
    const queues: BullMqWorkQueue[] = [];
    const queue = (): BullMqWorkQueue => {
      const { clock, server } = time;
      const each = new Queue({ name: 'test', redisUrl: server.url, keyPrefix, clock, options });
      queues.push(each);
      return each;
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
        await Promise.all(queues.map((each) => each.close()));
      },
    };
  };
}
