import { describe, expect, it } from 'vitest';
import { aReplicaSet } from '../../../../testing/replicaset-harness.js';
import { SIZES } from './settings.js';
import type { SizeStep } from './size-steps.js';
import { notesOfWrites, readSizeSteps } from './size-steps.js';

const step = (n: number, from: number, to: number): SizeStep => ({
  ...{ n, from, to, at: '2026-01-01T00:00:00.000Z' },
  ...{ total: 5, most: 5, available: 4, least: 3 },
});
const noted = (...steps: readonly SizeStep[]) => ({ [SIZES]: JSON.stringify(steps) });
const observed = (...steps: readonly SizeStep[]) => {
  const replicaSet = aReplicaSet();
  return { ...replicaSet, metadata: { ...replicaSet.metadata, annotations: noted(...steps) } };
};
const sizesIn = (notes: readonly string[] | undefined) =>
  notes?.map((note) => readSizeSteps({ [SIZES]: note }).map(({ from, n, to }) => `${n}: ${from} → ${to}`));

describe('notes of sizes', () => {
  it('says in each write of a pass what that write does, and no more', () => {
    const sizes = [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
    ];
    expect(sizesIn(notesOfWrites({ annotations: noted(step(1, 0, 2)) }, sizes))).toEqual([
      ['1: 0 → 1'],
      ['2: 1 → 2', '1: 0 → 1'],
    ]);
  });

  it('keeps what was noted before, newest first, and no more than eight', () => {
    const before = Array.from({ length: 8 }, (_, index) => step(8 - index, 0, 0));
    const whole = { annotations: noted(step(9, 4, 1), ...before.slice(0, 7)), observed: observed(...before) };
    const sizes = [
      { from: 4, to: 2 },
      { from: 2, to: 1 },
    ];
    const [first = [], second = []] = sizesIn(notesOfWrites(whole, sizes)) ?? [];
    expect(first.slice(0, 2)).toEqual(['9: 4 → 2', '8: 0 → 0']);
    expect(second.slice(0, 3)).toEqual(['10: 2 → 1', '9: 4 → 2', '8: 0 → 0']);
    expect(second).toHaveLength(8);
  });

  it('is nothing where the pass has noted nothing', () => {
    const same = { annotations: noted(step(3, 1, 2)), observed: observed(step(3, 1, 2)) };
    expect(notesOfWrites(same, [{ from: 2, to: 3 }])).toBeUndefined();
    expect(notesOfWrites({ annotations: {} }, [{ from: 0, to: 1 }])).toBeUndefined();
  });
});
