import { afterAll, describe, expect, it } from 'vitest';
import { isNightly, propertyRuns } from '../../src/testing/property-runs.js';
import { simulate } from './simulate.js';

/** `SEED=7 RUNS=100` chooses others. */
const { numRuns, seed: propertySeed } = propertyRuns({ gate: 8, nightly: 100 });
const FIRST = process.env['SEED'] !== undefined || isNightly ? propertySeed : 1;
const SEEDS = Array.from({ length: numRuns }, (_, index) => FIRST + index);
const TROUBLED_MS = 20_000;
let faults = 0;
let checks = 0;

describe('three replicas in a simulated cluster', () => {
  afterAll(() => console.log(`${SEEDS.length} seeds from ${FIRST}: ${faults} faults, ${checks} checks`));

  it.each(SEEDS)('keep every promise under the faults of seed %i, twice in the same way', async (seed) => {
    const result = await simulate({ seed, troubledMs: TROUBLED_MS });
    faults += result.faultCount;
    checks += result.checks;
    expect(result.violations).toEqual([]);
    const again = await simulate({ seed, troubledMs: TROUBLED_MS });
    expect(again).toEqual(result);
  });

  it('end at the step that they are told to end at, also while they stop', async () => {
    const whole = await simulate({ seed: 1, troubledMs: 2000 });
    const cut = await simulate({ seed: 1, troubledMs: 2000, steps: whole.steps - 10 });
    expect(cut.violations).toEqual([]);
    expect(cut.steps).toBeLessThan(whole.steps);
  });

  it('stay paused in an exam although a pause of the plan would end in the middle of it', async () => {
    const { violations } = await simulate({ seed: 3001, troubledMs: 25_000 });
    expect(violations).toEqual([]);
  });

  it('differ from seed to seed', async () => {
    const hashes = [];
    for (const seed of [1, 2]) hashes.push((await simulate({ seed, troubledMs: 2000 })).traceHash);
    expect(new Set(hashes).size).toBe(2);
  });
});
