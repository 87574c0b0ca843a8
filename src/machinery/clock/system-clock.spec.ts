import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from './system-clock.js';

const DAY_MS = 86_400_000;

describe('the timers of the machine', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('fire when they are due and not before, also where that is later than the platform can count', () => {
    const clock = new SystemClock();
    const fired: string[] = [];
    clock.setTimeout(() => fired.push('overdue'), -5);
    clock.setTimeout(() => fired.push('in 40 days'), 40 * DAY_MS);
    clock.setTimeout(() => fired.push('in 100 days'), 100 * DAY_MS);
    vi.advanceTimersByTime(40 * DAY_MS - 1);
    expect(fired).toEqual(['overdue']);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(['overdue', 'in 40 days']);
    vi.advanceTimersByTime(60 * DAY_MS);
    expect(fired).toEqual(['overdue', 'in 40 days', 'in 100 days']);
  });

  it('are cancelled at any time', () => {
    const clock = new SystemClock();
    const fired: string[] = [];
    const [soon, later] = [30, 100].map((days) =>
      clock.setTimeout(() => fired.push(`in ${days} days`), days * DAY_MS),
    );
    soon?.cancel();
    vi.advanceTimersByTime(60 * DAY_MS);
    later?.cancel();
    vi.advanceTimersByTime(100 * DAY_MS);
    expect(fired).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
