import { describe, expect, it } from 'vitest';
import { FakeClock } from '../clock/index.js';
import { ConcurrencyLimit } from './concurrency-limit.js';

describe('a concurrency limit', () => {
  it('lets so many run at once, in the order of the calls, and everybody in the end', async () => {
    const limit = new ConcurrencyLimit(2);
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const calls = Array.from({ length: 7 }, (_, index) =>
      limit.run(async () => {
        started.push(index);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return index;
      }),
    );
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(most).toBe(2);
  });

  it('lets those of a smaller rank overtake what waits, each rank in the order of its calls', async () => {
    const limit = new ConcurrencyLimit(1);
    const started: string[] = [];
    const call = (name: string) => async (): Promise<void> => void started.push(name);
    await Promise.all([
      limit.run(call('first'), 3),
      limit.run(call('low 1'), 3),
      limit.run(call('low 2'), 3),
      limit.run(call('normal'), 2),
      limit.run(call('high'), 1),
    ]);
    expect(started).toEqual(['first', 'high', 'normal', 'low 1', 'low 2']);
  });

  it('goes on after a call that failed', async () => {
    const limit = new ConcurrencyLimit(1);
    const failed = limit.run(() => Promise.reject(new Error('no')));
    const next = limit.run(async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('lets others pass calls that take too long, and counts none of them twice', async () => {
    const clock = new FakeClock();
    const limit = new ConcurrencyLimit(2, { afterMs: 1000, clock });
    const finish: (() => void)[] = [];
    const hang = (): Promise<void> => limit.run(() => new Promise<void>((resolve) => finish.push(resolve)));
    const calls = Array.from({ length: 5 }, hang);
    await clock.advance(999);
    expect(finish).toHaveLength(2);
    await clock.advance(1);
    expect(finish).toHaveLength(4);
    for (const end of finish) end();
    await clock.advance(0);
    expect(finish).toHaveLength(5);
    finish[4]?.();
    await Promise.all(calls);
    const later = [hang(), hang(), hang()];
    await clock.advance(0);
    expect(finish).toHaveLength(7);
    for (const end of finish) end();
    await clock.advance(0);
    finish[7]?.();
    await Promise.all(later);
    expect(clock.pendingTimers).toBe(0);
  });
});
