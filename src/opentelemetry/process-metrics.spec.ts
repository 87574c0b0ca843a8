import { describe, expect, it } from 'vitest';
import { lateness } from './process-metrics.js';

describe('how late the event loop was', () => {
  it.each([
    ['what is beyond the time between two looks', 350e6, 0.3],
    ['next to nothing, where a look came in time', 50.2e6, 0.0002],
    ['nothing, where a look came early', 49e6, 0],
    ['nothing, where there was no look yet', Number.NaN, 0],
    ['nothing, where the histogram is empty', 9_223_372_036_854_776_000, 0],
  ])('is %s', (_, nanoseconds, seconds) => {
    expect(lateness(nanoseconds)).toBeCloseTo(seconds, 6);
  });
});
