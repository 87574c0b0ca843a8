import { FakeClock } from '../../machinery/clock/index.js';
import { describeKeyTable, runKeyStateContract } from '../../testing/key-state-contract.js';
import { runWorkQueueContract } from '../../testing/work-queue-contract.js';
import type { KeyStateHarness } from '../../testing/work-queue-harness.js';
import { MemoryWorkQueueConsumer } from './memory-consumer.js';
import { MemoryWorkQueue } from './memory-work-queue.js';
import type { WorkQueueOptions } from './work-queue.options.js';

async function makeHarness(options?: WorkQueueOptions): Promise<KeyStateHarness> {
  const clock = new FakeClock();
  const queue = new MemoryWorkQueue({ name: 'test', clock, options });
  return {
    queue: () => queue,
    consumer: () => new MemoryWorkQueueConsumer(queue),
    async until(condition, withinMs = 5000) {
      for (let passed = 0; !(await condition()); passed += 5) {
        if (passed > withinMs) throw new Error(`waited ${withinMs} ms in vain`);
        await clock.advance(5);
      }
    },
    pass: (ms) => clock.advance(ms),
    workFor: (ms) => clock.sleep(ms),
    fire: () => clock.advance(1),
    cpuMs: () => process.cpuUsage().user / 1000,
    close: () => queue.close(),
  };
}

runWorkQueueContract('MemoryWorkQueue', makeHarness, { numRuns: 60 });
runKeyStateContract('MemoryWorkQueue', makeHarness, { coverage: 'all' });
describeKeyTable();
