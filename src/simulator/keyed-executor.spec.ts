import { describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import { silentLogger } from '../machinery/logging/index.js';
import type { KeyWork } from './keyed-executor.js';
import { KeyedExecutor } from './keyed-executor.js';

function aRunning(work: KeyWork, concurrency = 2) {
  const clock = new FakeClock();
  const executor = new KeyedExecutor(work, { concurrency, clock, logger: silentLogger });
  const stopper = new AbortController();
  return { clock, executor, stop: () => stopper.abort(), done: executor.run(stopper.signal) };
}

describe('KeyedExecutor', () => {
  it('never works on one key twice at once, and once more for what was added meanwhile', async () => {
    const running = new Set<string>();
    let runs = 0;
    let most = 0;
    const { clock, executor, stop, done } = aRunning(async (key) => {
      if (running.has(key)) throw new Error('entered twice');
      running.add(key);
      most = Math.max(most, running.size);
      await clock.sleep(10);
      running.delete(key);
      runs++;
      return {};
    });
    for (const key of ['a', 'b', 'c']) executor.add(key);
    executor.add('a');
    executor.add('a');
    await clock.advance(100);
    expect(runs).toBe(4);
    expect(most).toBe(2);
    stop();
    await done;
  });

  it('comes back when the work asked to, and tries again with growing pauses after failures', async () => {
    const times: number[] = [];
    const { clock, executor, stop, done } = aRunning(async () => {
      times.push(clock.monotonicNow());
      if (times.length <= 3) throw new Error('not yet');
      return times.length === 4 ? { wakeInMs: 1_000 } : {};
    });
    executor.add('a');
    await clock.advance(60_000);
    expect(times).toEqual([0, 100, 300, 700, 1_700]);
    stop();
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits for the work under way when it is stopped, and takes no more', async () => {
    const finished: string[] = [];
    const { clock, executor, stop, done } = aRunning(async (key) => {
      await clock.sleep(10);
      finished.push(key);
      return { wakeInMs: 5 };
    }, 1);
    executor.add('a');
    executor.add('b');
    await clock.advance(1);
    stop();
    await clock.advance(100);
    await done;
    expect(finished).toEqual(['a']);
    expect(clock.pendingTimers).toBe(0);
  });
});
