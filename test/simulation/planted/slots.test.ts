import { describe, expect, it } from 'vitest';
import type * as JudgeSeed from './judge-seed.js';
import { withChosen } from './planted-bug.js';
import { importWithSwitches } from './planted-import.js';
import { SLOT_BUGS } from './slot-bugs.js';

/** By seed and kinds of faults: several bugs are sought in the same run. */
const anyway = new Map<string, boolean>();

async function failsAnyway(
  problemOf: typeof JudgeSeed.problemOf,
  seed: number,
  bug: (typeof SLOT_BUGS)[number],
): Promise<boolean> {
  const name = `${seed}: ${bug.under.join(', ')}`;
  const known = anyway.get(name) ?? (await problemOf(seed, bug)) !== undefined;
  anyway.set(name, known);
  return known;
}

describe('the simulated world with slots finds a planted bug', () => {
  it.each(SLOT_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const { problemOf } = (await importWithSwitches('./judge-seed.js')) as typeof JudgeSeed;
    const { firstSeed = 1, withinSeeds } = bug;
    let found: number | undefined;
    for (let seed = firstSeed; seed < firstSeed + withinSeeds && found === undefined; seed++) {
      const problem = await withChosen(bug, () => problemOf(seed, bug));
      // A seed that fails anyway shows nothing of the bug.
      if (problem === undefined || (await failsAnyway(problemOf, seed, bug))) continue;
      console.log(`${bug.name}: found with seed ${seed}: ${problem}`);
      found = seed;
    }
    expect(found, `found within ${bug.withinSeeds} seeds`).toBeDefined();
  });
});
