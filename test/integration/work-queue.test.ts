import { randomUUID } from 'node:crypto';
import { describe, inject } from 'vitest';
import { RedisQueuedActors } from '../../src/kit/redis.js';
import { SystemClock } from '../../src/base/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { runWorkQueueContract } from '../../src/testing/work-queue-contract.js';
import type { MakeWorkQueueHarness } from '../../src/testing/work-queue-harness.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer } from '../../src/kit/redis.js';

const clock = new SystemClock();

const withActors = (keyPrefix: string): RedisQueuedActors =>
  new RedisQueuedActors({ controller: 'test', keyPrefix, clock });

describe.each([
  { name: 'BullMqWorkQueue', actorsFor: () => undefined },
  { name: 'BullMqWorkQueue that takes the locks of actors as well', actorsFor: withActors },
])('$name', ({ name, actorsFor }) => {
  runWorkQueueContract(name, makeHarness(actorsFor), { numRuns: 10, endOnFailure: true });
});

function makeHarness(actorsFor: (keyPrefix: string) => RedisQueuedActors | undefined): MakeWorkQueueHarness {
  return async (options) => {
    const keyPrefix = randomUUID();
    const actors = actorsFor(keyPrefix);
    const queues: BullMqWorkQueue[] = [];
    const queue = (): BullMqWorkQueue => {
      const made = new BullMqWorkQueue({
        name: 'test',
        redisUrl: inject('redisUrl'),
        keyPrefix,
        clock,
        actors,
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
  };
}
