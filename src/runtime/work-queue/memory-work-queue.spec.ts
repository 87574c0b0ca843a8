import { describe, expect, it } from 'vitest';
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

describe('a queue in the memory of its leader', () => {
  const term = { epoch: 1, holder: 'a' };

  it('refuses an add that was on its way when the term ended, and keeps none of the keys', async () => {
    const queue = new MemoryWorkQueue({ name: 'test', clock: new FakeClock() });
    const adds = await queue.beginTerm(term);
    await adds.add('ns/a');
    queue.endTerm();
    await expect(adds.add('ns/b')).rejects.toThrow('refused');
    await expect(adds.check()).rejects.toThrow('refused');
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, parked: 0 });
  });

  it('keeps no key whose add began at the moment at which the term ended', async () => {
    const queue = new MemoryWorkQueue({ name: 'test', clock: new FakeClock() });
    const adds = await queue.beginTerm(term);
    const adding = adds.add('ns/a');
    queue.endTerm();
    await adding.catch(() => undefined);
    expect((await queue.counts()).waiting).toBe(0);
  });

  it('takes the adds of the same term once it has begun again', async () => {
    const queue = new MemoryWorkQueue({ name: 'test', clock: new FakeClock() });
    await queue.beginTerm(term);
    queue.endTerm();
    const adds = await queue.beginTerm(term);
    await adds.add('ns/a');
    expect((await queue.counts()).waiting).toBe(1);
  });
});
