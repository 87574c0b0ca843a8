import { describe, expect, it } from 'vitest';
import { doublingDelayMs } from './doubling-delay.js';

describe('a delay that doubles', () => {
  const limits = { firstMs: 100, longestMs: 1000 };

  it('begins with the first, doubles with each failure, and ends at the limit', () => {
    expect([0, 1, 2, 3, 4, 5].map((failures) => doublingDelayMs(failures, limits))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ]);
  });

  it('stays a number after any number of failures', () => {
    expect(doublingDelayMs(100_000, limits)).toBe(1000);
    expect(doublingDelayMs(100_000, { firstMs: 0, longestMs: 1000 })).toBe(0);
  });
});
