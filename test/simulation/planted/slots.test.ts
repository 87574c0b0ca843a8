import { describe, expect, it } from 'vitest';
import type * as JudgeSeed from './judge-seed.js';
import { withChosen } from './planted-bug.js';
import { importWithSwitches } from './planted-import.js';
import { SLOT_BUGS } from './slot-bugs.js';

describe('the simulated world with slots finds a planted bug', () => {
  it.each(SLOT_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const { problemOf } = (await importWithSwitches('./judge-seed.js')) as typeof JudgeSeed;
    let found: number | undefined;
    for (let seed = 1; seed <= bug.withinSeeds && found === undefined; seed++) {
      const problem = await withChosen(bug, () => problemOf(seed, bug));
      // A seed that fails anyway shows nothing of the bug.
      if (problem === undefined || (await problemOf(seed, bug)) !== undefined) continue;
      console.log(`${bug.name}: found with seed ${seed}: ${problem}`);
      found = seed;
    }
    expect(found, `found within ${bug.withinSeeds} seeds`).toBeDefined();
  });
});
