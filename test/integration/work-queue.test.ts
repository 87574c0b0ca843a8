import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { SystemClock } from '../../src/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/work-queue/index.js';

const clock = new SystemClock();

runWorkQueueContract(
  'BullMqWorkQueue',
  async (options) => {
    const keyPrefix = randomUUID();
    const queues: BullMqWorkQueue[] = [];
    const queue = (): BullMqWorkQueue => {
      const made = new BullMqWorkQueue({
        name: 'test',
        redisUrl: inject('redisUrl'),
        keyPrefix,
        clock,
        options,
      });
      queues.push(made);
      return made;
    };
    return {
      queue,
      consumer: () => new BullMqWorkQueueConsumer({ queue: queue() }),
      async until(condition, withinMs = 5000) {
        await waitFor(condition, { timeoutMs: withinMs, intervalMs: 5 });
      },
      pass: (ms) => clock.sleep(ms),
      workFor: (ms) => clock.sleep(ms),
      async close() {
        await Promise.all(queues.map((made) => made.close()));
      },
    };
  },
  { numRuns: 10, endOnFailure: true },
);
