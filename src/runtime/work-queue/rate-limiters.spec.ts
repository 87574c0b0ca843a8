import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenBucketState } from './rate-limiters.js';
import { exponentialBackoffMs, reserveToken } from './rate-limiters.js';

const backoff = { backoffBaseMs: 5, backoffMaxMs: 1_000_000 };
const bucket = { bucketRatePerSecond: 10, bucketBurst: 100 };

describe('the exponential backoff', () => {
  it.each([
    { failures: 0, ms: 5 },
    { failures: 1, ms: 10 },
    { failures: 10, ms: 5120 },
    { failures: 17, ms: 655_360 },
    { failures: 18, ms: 1_000_000 },
    { failures: 5000, ms: 1_000_000 },
  ])('waits $ms ms after $failures earlier failures', ({ failures, ms }) => {
    expect(exponentialBackoffMs(failures, backoff)).toBe(ms);
  });
});

describe('the token bucket', () => {
  it('gives a burst at once and the rest at its rate', () => {
    let state: TokenBucketState | undefined;
    const delays: number[] = [];
    for (let index = 0; index < 103; index++) {
      const reserved = reserveToken(state, 0, bucket);
      state = reserved.state;
      delays.push(reserved.delayMs);
    }
    expect(delays.slice(0, 100).every((delay) => delay === 0)).toBe(true);
    expect(delays.slice(100)).toEqual([100, 200, 300]);
  });

  it('fills up again, but never above the burst', () => {
    const empty = { tokens: 0, atMs: 0 };
    expect(reserveToken(empty, 1000, bucket)).toEqual({ state: { tokens: 9, atMs: 1000 }, delayMs: 0 });
    expect(reserveToken(empty, 3_600_000, bucket).state.tokens).toBe(99);
  });

  it('takes a clock that went back for one that stood still', () => {
    expect(reserveToken({ tokens: 5, atMs: 1000 }, 0, bucket).state.tokens).toBe(4);
  });

  it('never lets more than burst + rate × time pass, whenever they ask', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 400 }), (gaps) => {
        let nowMs = 0;
        let state: TokenBucketState | undefined;
        const passAtMs: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          const reserved = reserveToken(state, nowMs, bucket);
          state = reserved.state;
          passAtMs.push(nowMs + reserved.delayMs);
        }
        const lastMs = Math.max(...passAtMs);
        expect(passAtMs.length).toBeLessThanOrEqual(bucket.bucketBurst + (lastMs * 10) / 1000 + 1e-6);
      }),
      { numRuns: 100, verbose: 1 },
    );
  });
});
