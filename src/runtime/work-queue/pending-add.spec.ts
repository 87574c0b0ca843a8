import { describe, expect, it } from 'vitest';
import type { PendingAdd } from './pending-add.js';
import { PRIORITY_RANK, mergePendingAdds, pendingAddOf, priorityOfRank } from './pending-add.js';

const low: PendingAdd = { priority: 'low', reason: 'resync', readySinceMs: 10, traceparent: 'trace-low' };
const high: PendingAdd = {
  priority: 'high',
  reason: 'user-change',
  readySinceMs: 20,
  traceparent: 'trace-high',
};

describe('two adds that become one run', () => {
  it.each([
    {
      name: 'the higher comes second',
      first: low,
      second: high,
      merged: { ...high, readySinceMs: 10, links: ['trace-low'] },
    },
    {
      name: 'the higher comes first',
      first: high,
      second: low,
      merged: { ...high, readySinceMs: 10, links: ['trace-low'] },
    },
    {
      name: 'both are alike: the first tells why',
      first: { ...low, reason: 'sweep' as const },
      second: low,
      merged: { ...low, reason: 'sweep' },
    },
    {
      name: 'only the lower has a trace',
      first: low,
      second: { priority: 'high' as const, reason: 'user-change' as const, readySinceMs: 20 },
      merged: { ...high, readySinceMs: 10, traceparent: 'trace-low' },
    },
  ])('keep the higher priority, its reason and the earlier time: $name', ({ first, second, merged }) => {
    expect(mergePendingAdds(first, second)).toEqual(merged);
  });

  it('are the second alone where nothing waits', () => {
    expect(mergePendingAdds(undefined, high)).toBe(high);
  });
});

describe('an add', () => {
  it('has the documented defaults', () => {
    expect(pendingAddOf({}, 7)).toEqual({ priority: 'normal', reason: 'child-change', readySinceMs: 7 });
  });

  it('has a rank that leads back to its priority', () => {
    for (const priority of ['high', 'normal', 'low'] as const) {
      expect(priorityOfRank(PRIORITY_RANK[priority])).toBe(priority);
    }
  });
});
