import { expect, it } from 'vitest';
import { Backoff } from './backoff.js';

const limits = { firstMs: 100, maxMs: 30_000 };

it('doubles up to the maximum, spread over the upper half, and begins again after a reset', () => {
  const delays = (chance: number, count: number) => {
    const backoff = new Backoff(limits, { next: () => chance });
    return { backoff, delays: Array.from({ length: count }, () => backoff.nextMs()) };
  };
  expect(delays(0, 4).delays).toEqual([50, 100, 200, 400]);
  const { backoff, delays: longest } = delays(0.9999999, 60);
  expect(longest.slice(0, 3).map(Math.round)).toEqual([100, 200, 400]);
  expect(Math.max(...longest)).toBeLessThanOrEqual(30_000);
  backoff.reset();
  expect(Math.round(backoff.nextMs())).toBe(100);
});
