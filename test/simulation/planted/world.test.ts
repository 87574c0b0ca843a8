import { expect, describe, it } from 'vitest';
import type * as JudgeSeed from './judge-seed.js';
import { withChosen } from './planted-bug.js';
import { MODEL_BUGS } from './planted-bugs.js';
import { importWithSwitches } from './planted-import.js';
import { WORLD_BUGS } from './world-bugs.js';

/** The problems without a bug, by the seed and its world: bugs that are sought in the same one share its run. */
const anyway = new Map<string, Promise<string | undefined>>();

describe('the simulated world finds a planted bug', () => {
  it.each(WORLD_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const { problemOf } = (await importWithSwitches('./judge-seed.js')) as typeof JudgeSeed;
    let found: number | undefined;
    for (let seed = 1; seed <= bug.withinSeeds && found === undefined; seed++) {
      const problem = await withChosen(bug, () => problemOf(seed, bug));
      if (problem === undefined) continue;
      const run = JSON.stringify([seed, bug.world, bug.slots, bug.under]);
      if (!anyway.has(run)) anyway.set(run, problemOf(seed, bug));
      // A seed that fails anyway shows nothing of the bug.
      if ((await anyway.get(run)) !== undefined) continue;
      console.log(`${bug.name}: found with seed ${seed}: ${problem}`);
      found = seed;
    }
    expect(found, `found within ${bug.withinSeeds} seeds`).toBeDefined();
  });

  it('or a model does: there are at least twenty of them', () => {
    expect(MODEL_BUGS.length + WORLD_BUGS.length).toBeGreaterThanOrEqual(20);
  });
});
