import { FakeClock } from '../../machinery/clock/index.js';
import { runWorkQueueContract } from '../../testing/work-queue-contract.js';
import { MemoryWorkQueueConsumer } from './memory-consumer.js';
import { MemoryWorkQueue } from './memory-work-queue.js';

runWorkQueueContract(
  'MemoryWorkQueue',
  async (options) => {
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
      cpuMs: () => process.cpuUsage().user / 1000,
      close: () => queue.close(),
    };
  },
  { numRuns: 60 },
);
