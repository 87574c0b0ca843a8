import { describe, expect, it } from 'vitest';
import { isNightly, propertyRuns } from '../../src/testing/property-runs.js';
import { planOf } from './plan.js';
import { simulate } from './simulate.js';

/** `SEED=7 RUNS=100` chooses others. */
const { numRuns, seed: propertySeed } = propertyRuns({ gate: 1, nightly: 40 });
/** Seed 3 is quick. */
const FIRST = process.env['SEED'] !== undefined || isNightly ? propertySeed : 3;
const SEEDS = Array.from({ length: numRuns }, (_, index) => FIRST + index);
const TROUBLED_MS = 20_000;

describe('replicas with slots on a simulated Redis', () => {
  it.each(SEEDS)('keep every promise under the faults of seed %i, twice in the same way', async (seed) => {
    const plan = planOf(seed, TROUBLED_MS, { slots: true });
    const result = await simulate({ seed, plan });
    expect(result.violations).toEqual([]);
    expect(await simulate({ seed, plan })).toEqual(result);
  });
});
