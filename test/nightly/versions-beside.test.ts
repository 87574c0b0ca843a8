import { afterAll, describe, expect, it } from 'vitest';
import { earlierRevision, loadableVersion } from '../../scripts/lib/other-version.mjs';
import { propertyRuns } from '../../src/testing/property-runs.js';
import { planBesideOf, planOf } from '../simulation/plan.js';
import { simulate } from '../simulation/simulate.js';
import { loadOther } from '../simulation/versions/versions.js';

/** `SEED=7 RUNS=100` chooses others. */
const { numRuns, seed: first } = propertyRuns({ gate: 20, nightly: 20 });
const SEEDS = Array.from({ length: numRuns }, (_, index) => first + index);
const TROUBLED_MS = 20_000;
const REMOVED_WITHIN_MS = 60_000;

describe('replicas of an earlier version and of this one', async () => {
  const { commit, module, remove } = await loadableVersion(earlierRevision());
  afterAll(remove, REMOVED_WITHIN_MS);
  const beside = await loadOther(module);
  console.log(`beside ${commit.slice(0, 12)}: seeds from ${first}`);

  it.each(SEEDS)('keep every promise under the faults of seed %i, twice in the same way', async (seed) => {
    const plan = planBesideOf(seed, TROUBLED_MS);
    const result = await simulate({ seed, plan, beside });
    expect(result.violations).toEqual([]);
    expect(await simulate({ seed, plan, beside })).toEqual(result);
  });
});

describe('an earlier version with another format', async () => {
  // The versions that a run wrote had fields of another name: neither version waits for the writes of the other.
  const file = (name: string): string => `src/redis/activation/${name}`;
  const patches = [
    {
      file: file('lua/release-1.lua'),
      from: "raiseVersions(actorKey, 'own'",
      to: "raiseVersions(actorKey, 'wrote'",
    },
    { file: file('redis-actor-calls.ts'), from: '(?:own|cause)', to: '(?:wrote|cause)' },
  ];
  const { module, remove } = await loadableVersion('HEAD', { patches });
  afterAll(remove, REMOVED_WITHIN_MS);
  const beside = await loadOther(module);

  it('is found by the simulation within eight seeds', async () => {
    const under = ['watches are held'] as const;
    let found: string | undefined;
    for (let seed = 1; seed <= 8 && found === undefined; seed++) {
      const plan = planOf(seed, 20_000, { only: under, way: 'redis' });
      const { violations } = await simulate({ seed, plan, beside });
      if (violations.length === 0) continue;
      expect((await simulate({ seed, plan })).violations).toEqual([]);
      found = violations[0]?.problem;
      console.log(`found with seed ${seed}: ${found}`);
    }
    expect(found).toBeDefined();
  });
});
