import { describe, expect, it } from 'vitest';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { mergeLimits } from './rollout-limits.js';

const [old, failed] = ['old', 'failed'].map((name) => ({ name, replicas: 4 }) as ReplicaSetDraft);

describe('limits of two policies', () => {
  it('are those of the one where the other gives none', () => {
    expect(mergeLimits({ most: 3 }, {})).toEqual({ most: 3 });
    expect(mergeLimits({}, { most: 3 })).toEqual({ most: 3 });
    expect(mergeLimits({ most: 3, surge: 1 }, { most: undefined })).toEqual({ most: 3, surge: 1 });
  });

  it('let the new version become as large as the narrower allows', () => {
    expect(mergeLimits({ most: 3 }, { most: 5 })).toEqual({ most: 3 });
    expect(mergeLimits({ most: 5 }, { most: 3 })).toEqual({ most: 3 });
  });

  it('keep as many old pods as the one that keeps more', () => {
    const { leastOld } = mergeLimits({ leastOld: () => 2 }, { leastOld: ({ replicas }) => replicas - 1 });
    expect(leastOld?.(old!)).toBe(3);
  });

  it('hold and keep the versions that either names', () => {
    const one = { mayNotGrow: new Set([failed!]), keptWhole: new Set([old!]) };
    const other = { mayNotGrow: new Set([old!]), keptWhole: new Set([failed!]) };
    const both = mergeLimits(one, other);
    expect(both.mayNotGrow).toEqual(new Set([old, failed]));
    expect(both.keptWhole).toEqual(new Set([old, failed]));
  });
});
