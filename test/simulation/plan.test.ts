import { describe, expect, it } from 'vitest';
import { STORM } from '../../src/testing/simulation/index.js';
import { densePlanOf } from './plan.js';
import { simulate } from './simulate.js';

const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

describe('a dense plan', () => {
  it('deletes no Deployment where nothing collects what it leaves', () => {
    const plans = SEEDS.map((seed) => densePlanOf(seed, 60_000));
    const deletes = plans.filter(({ acts }) => acts.some(({ act }) => act === 'delete'));
    expect(deletes.length).toBeGreaterThan(0);
    expect(deletes.every(({ collectsGarbage }) => collectsGarbage)).toBe(true);
  });

  it('has one or two Deployments, and a storm at its start', () => {
    for (const { acts, faults } of SEEDS.map((seed) => densePlanOf(seed, 60_000))) {
      expect(new Set(acts.map(({ name }) => name)).size).toBeLessThanOrEqual(2);
      expect(faults.find(({ fault }) => fault === STORM)?.atMs).toBe(5000);
    }
  });

  it('counts each message that is struck, and not the storm itself', async () => {
    const { faults, violations } = await simulate({ seed: 2, plan: densePlanOf(2, 10_000) });
    expect(violations).toEqual([]);
    expect(faults['message late']).toBeGreaterThan(100);
    expect(Object.keys(faults)).not.toContain(STORM);
  });
});
