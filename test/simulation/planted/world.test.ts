import { describe, expect, it } from 'vitest';
import { isNightly } from '../../../src/testing/property-runs.js';
import type * as Simulation from '../simulate.js';
import { simulate } from '../simulate.js';
import { problemOf } from './judge-seed.js';
import { MODEL_BUGS, PLANTED_BUGS } from './planted-bugs.js';
import { importWith } from './planted-import.js';
import { NOT_FOUND_YET, WORLD_BUGS } from './world-bugs.js';

const SOUGHT = WORLD_BUGS.filter(({ isInGate }) => isNightly || isInGate);

describe('the simulated world finds a planted bug', () => {
  it.each(SOUGHT.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../simulate.js', bug)) as typeof Simulation;
    let found: number | undefined;
    for (let seed = 1; seed <= bug.withinSeeds && found === undefined; seed++) {
      const problem = await problemOf(planted.simulate, seed);
      // A seed that fails anyway shows nothing of the bug.
      if (problem === undefined || (await problemOf(simulate, seed)) !== undefined) continue;
      console.log(`${bug.name}: found with seed ${seed}: ${problem}`);
      found = seed;
    }
    expect(found, `found within ${bug.withinSeeds} seeds`).toBeDefined();
  });

  it('or a model does: there are at least twenty of them, and those that nothing finds yet are named', () => {
    expect(MODEL_BUGS.length + WORLD_BUGS.length).toBeGreaterThanOrEqual(20);
    for (const { name, why } of NOT_FOUND_YET) console.log(`not found yet: ${name}: ${why}`);
    const found = [...MODEL_BUGS, ...WORLD_BUGS].map(({ name }) => name);
    expect(PLANTED_BUGS.map(({ name }) => name)).toEqual([
      ...found,
      ...NOT_FOUND_YET.map(({ name }) => name),
    ]);
  });
});
