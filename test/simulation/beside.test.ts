import { afterAll, describe, expect, it } from 'vitest';
import { loadableVersion } from '../../scripts/lib/other-version.mjs';
import { planOf, wayOf, wayOfTwo } from './plan.js';
import { simulate } from './simulate.js';
import { isOfOther, loadOther } from './versions/versions.js';

/** A seed whose replicas coordinate by Redis, and its faults; other seeds run at night (test/nightly/versions-beside.test.ts). */
const SEED = 7;
const TROUBLED_MS = 8000;
const REMOVED_WITHIN_MS = 60_000;

describe('replicas of two versions', async () => {
  // A clone has this one at least.
  const { module, remove } = await loadableVersion('HEAD');
  afterAll(remove, REMOVED_WITHIN_MS);
  const beside = await loadOther(module);

  it('keep every promise under the faults of a seed, twice in the same way', async () => {
    const plan = planOf(SEED, TROUBLED_MS, { way: wayOfTwo(wayOf(SEED)) });
    const result = await simulate({ seed: SEED, plan, beside });
    expect(result.violations).toEqual([]);
    expect(await simulate({ seed: SEED, plan, beside })).toEqual(result);
    const alone = await simulate({ seed: SEED, plan });
    expect(alone.traceHash).not.toBe(result.traceHash);
  });
});

it('a revision that is not in the history is refused by its name', async () => {
  await expect(loadableVersion('no-such-revision')).rejects.toThrow('no-such-revision is not in the history');
});

describe('the version of a replica', () => {
  const kernelOf = (share: number) => ({ randomOf: () => ({ next: () => share }) });
  const first = ['replica-0.1', 'replica-1.2', 'replica-2.3'];

  it.each([0, 0.2, 0.4, 0.6, 0.8, 0.999])(
    'is the other one for one or two of three at first (%d)',
    (share) => {
      const others = first.filter((name) => isOfOther(kernelOf(share), name));
      expect([1, 2]).toContain(others.length);
    },
  );

  it('is chosen again with each restart', () => {
    expect([0.2, 0.8].map((share) => isOfOther(kernelOf(share), 'replica-0.7'))).toEqual([true, false]);
  });
});
