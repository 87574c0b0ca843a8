import { describe, expect, it } from 'vitest';
import { FakeClock, pauseUntilBeat, untilBeatMs } from './index.js';

describe('a pause until the next beat', () => {
  it.each([
    { nowMs: 0, waitMs: 1000 },
    { nowMs: 400, waitMs: 600 },
    { nowMs: 500, waitMs: 500 },
    { nowMs: 501, waitMs: 1499 },
    { nowMs: 999.5, waitMs: 1000.5 },
    { nowMs: 7000, waitMs: 1000 },
  ])('lasts half a period at least, and one and a half at most: $nowMs, $waitMs', ({ nowMs, waitMs }) => {
    expect(untilBeatMs(nowMs, 1000)).toBe(waitMs);
  });

  it('ends for all loops of one period at the same moment', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const ends: number[] = [];
    const loop = async (): Promise<void> => {
      await pauseUntilBeat(clock, 1000, signal);
      ends.push(clock.monotonicNow());
    };
    const first = loop();
    await clock.advance(300);
    const second = loop();
    await clock.advance(1500);
    await Promise.all([first, second]);
    expect(new Set(ends).size).toBe(1);
  });

  it('tells the loop to end when the signal has aborted', async () => {
    expect(await pauseUntilBeat(new FakeClock(), 1000, AbortSignal.abort())).toBe(false);
  });
});
