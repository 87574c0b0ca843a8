import { describe, expect, it } from 'vitest';
import type { SeedOutcome } from './seed-pool.js';
import { SeedPool } from './seed-pool.js';

const outcome = (traceHash: string, late = 10): SeedOutcome => ({
  ...{ traceHash, faultCount: late, faults: { 'message late': late } },
  ...{ checks: 1, simulatedMs: 1000, steps: 100, violations: [] },
});

describe('a pool of seeds', () => {
  it('begins seeds until their first runs have made enough faults', () => {
    const pool = new SeedPool({ first: 1, faults: 25, twice: false });
    for (let run = pool.take(0, 1); run; run = pool.take(0, 1)) pool.report(0, run, outcome('a'));
    expect(pool.range).toBe('seeds 1 to 3');
    expect(pool.totals).toMatchObject({ faultCount: 30, runs: 3, seeds: 3 });
    expect(Object.fromEntries(pool.faults)).toEqual({ 'message late': 30 });
  });

  it('begins no more seeds than it may', () => {
    const pool = new SeedPool({ first: 4, faults: Infinity, seeds: 2, twice: false });
    expect([pool.take(0, 2)?.seed, pool.take(1, 2)?.seed, pool.take(0, 2)?.seed]).toEqual([4, 5, undefined]);
  });

  it('lets another worker run a seed again, which adds no faults', () => {
    const pool = new SeedPool({ first: 1, faults: 5, twice: true });
    const first = pool.take(0, 2)!;
    pool.report(0, first, outcome('a'));
    expect(pool.take(0, 2)).toBeUndefined();
    const second = pool.take(1, 2)!;
    expect(second).toEqual({ seed: 1, isSecond: true });
    pool.report(1, second, outcome('a'));
    expect(pool.totals).toMatchObject({ faultCount: 10, runs: 2, seeds: 1 });
    expect(pool.failed).toEqual([]);
  });

  it('lets the only worker run a seed again', () => {
    const pool = new SeedPool({ first: 1, faults: 5, twice: true });
    pool.report(0, pool.take(0, 1)!, outcome('a'));
    expect(pool.take(0, 1)).toEqual({ seed: 1, isSecond: true });
  });

  it('fails a seed whose second run differs from its first', () => {
    const pool = new SeedPool({ first: 7, faults: 5, twice: true });
    pool.report(0, pool.take(0, 1)!, outcome('a'));
    pool.report(0, pool.take(0, 1)!, outcome('b'));
    expect(pool.failed).toMatchObject([{ seed: 7, problems: [{ check: 'the same again' }] }]);
  });

  it('fails a seed that breaks a promise', () => {
    const pool = new SeedPool({ first: 7, faults: 5, twice: false });
    const violation = { check: 'limits', subject: 'web', problem: 'too many', atMs: 1, step: 1 };
    pool.report(0, pool.take(0, 1)!, { ...outcome('a'), violations: [violation] });
    expect(pool.failed).toEqual([{ seed: 7, problems: [violation] }]);
  });
});
