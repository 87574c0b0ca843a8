import { describe, expect, it } from 'vitest';
import { simulate } from './simulate.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const TROUBLED_MS = 25_000;

describe('three replicas in a simulated cluster', () => {
  it.each(SEEDS)('keep every promise under the faults of seed %i, twice in the same way', async (seed) => {
    const result = await simulate({ seed, troubledMs: TROUBLED_MS });
    expect(result.violations).toEqual([]);
    const again = await simulate({ seed, troubledMs: TROUBLED_MS });
    expect(again).toEqual(result);
    console.log(
      `seed ${seed}: trace ${result.traceHash}, ${result.faultCount} faults, ${result.checks} checks`,
    );
  });

  it('differ from seed to seed', async () => {
    const hashes = [];
    for (const seed of [1, 2]) hashes.push((await simulate({ seed, troubledMs: 2000 })).traceHash);
    expect(new Set(hashes).size).toBe(2);
  });
});
