import { describe, expect, it } from 'vitest';
import type { FailedAttempt } from './decide-retry.js';
import { decideRetry } from './decide-retry.js';

const limits = { maxAttempts: 5, firstDelayMs: 100, maxDelayMs: 10_000 };

interface Case {
  name: string;
  failure: FailedAttempt;
  read: boolean;
  write: boolean;
}

describe('decideRetry', () => {
  it.each<Case>([
    { name: 'a broken connection', failure: { type: 'connection' }, read: true, write: false },
    { name: 'a timeout', failure: { type: 'timeout' }, read: false, write: false },
    { name: '429', failure: { type: 'status', code: 429 }, read: true, write: true },
    {
      name: '503 with Retry-After',
      failure: { type: 'status', code: 503, retryAfterMs: 1000 },
      read: true,
      write: true,
    },
    { name: '503 alone', failure: { type: 'status', code: 503 }, read: false, write: false },
    {
      name: '500 with Retry-After, which may have done something',
      failure: { type: 'status', code: 500, retryAfterMs: 1000 },
      read: false,
      write: false,
    },
    { name: '409', failure: { type: 'status', code: 409 }, read: false, write: false },
    {
      name: '429 with a Retry-After beyond our patience',
      failure: { type: 'status', code: 429, retryAfterMs: 60_000 },
      read: false,
      write: false,
    },
  ])('after $name: reads again $read, writes again $write', ({ failure, read, write }) => {
    const base = { attempts: 1, failure, chance: 0.5 };
    expect(decideRetry({ ...base, read: true }, limits).retry).toBe(read);
    expect(decideRetry({ ...base, read: false }, limits).retry).toBe(write);
  });

  it('hands the refusal of an eviction to the caller at once', () => {
    const failure: FailedAttempt = { type: 'status', code: 429, retryAfterMs: 10_000 };
    const situation = { failure, read: false, attempts: 1, chance: 0 };
    expect(decideRetry({ ...situation, isEviction: true }, limits)).toEqual({ retry: false });
    expect(decideRetry(situation, limits).retry).toBe(true);
  });

  it('doubles the delay with each attempt and gives up after the last', () => {
    const decide = (attempts: number) =>
      decideRetry({ read: true, attempts, failure: { type: 'connection' }, chance: 0.999999 }, limits);
    const delays = [1, 2, 3, 4].map((attempts) => {
      const decision = decide(attempts);
      return decision.retry ? Math.round(decision.delayMs) : undefined;
    });
    expect(delays).toEqual([100, 200, 400, 800]);
    expect(decide(5)).toEqual({ retry: false });
  });

  it('never comes back earlier than Retry-After asked', () => {
    for (const chance of [0, 0.5, 0.99]) {
      const decision = decideRetry(
        { read: false, attempts: 1, failure: { type: 'status', code: 429, retryAfterMs: 1000 }, chance },
        limits,
      );
      expect(decision.retry && decision.delayMs).toBeGreaterThanOrEqual(1000);
    }
  });
});
