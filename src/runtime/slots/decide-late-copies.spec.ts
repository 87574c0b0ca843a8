import { describe, expect, it } from 'vitest';
import type { CopiesProgress } from './decide-late-copies.js';
import { COPY_WITHIN_MS, LATE_FOR_MS, decideCopiesProgress, lateReplicas } from './decide-late-copies.js';

const SLOTS = [
  { owner: 'a', standby: 'b' },
  { owner: 'b', standby: 'a' },
];

/** Reports one after the other, each with the slots that are current by replica. */
function after(
  reports: readonly (readonly [nowMs: number, current: Readonly<Record<string, readonly number[]>>])[],
  slots = SLOTS,
): readonly string[] {
  let progress: CopiesProgress = new Map();
  for (const [nowMs, current] of reports) {
    const members = Object.entries(current).map(([replica, each]) => ({ replica, current: each }));
    progress = decideCopiesProgress(progress, { slots, members, nowMs });
  }
  return lateReplicas(progress);
}

describe('a replica', () => {
  it('is late once it has held slots for a minute and none of their copies has become current', () => {
    expect(
      after([
        [0, { a: [0, 1], b: [] }],
        [COPY_WITHIN_MS - 1, { a: [0, 1], b: [] }],
      ]),
    ).toEqual([]);
    expect(
      after([
        [0, { a: [0, 1], b: [] }],
        [COPY_WITHIN_MS, { a: [0, 1], b: [] }],
      ]),
    ).toEqual(['b']);
  });

  it('is not late while its copies become current one after the other, however long all of them take', () => {
    expect(
      after([
        [0, { b: [] }],
        [COPY_WITHIN_MS - 1, { b: [0] }],
        [COPY_WITHIN_MS + 10, { b: [0] }],
      ]),
    ).toEqual([]);
  });

  it('is not late if it holds nothing, or if all of its copies are current', () => {
    expect(
      after([
        [0, { a: [0, 1], c: [] }],
        [COPY_WITHIN_MS * 2, { a: [0, 1], c: [] }],
      ]),
    ).toEqual([]);
  });

  it('stays late although others have got its slots, until a copy of it becomes current or it is tried again', () => {
    const late = [
      [0, { b: [] }],
      [COPY_WITHIN_MS, { b: [] }],
    ] as const;
    const then = COPY_WITHIN_MS + LATE_FOR_MS;
    expect(after([...late, [then - 1, { b: [] }]])).toEqual(['b']);
    expect(after([...late, [then - 1, { b: [1] }]])).toEqual([]);
    expect(after([...late, [then, { b: [] }]])).toEqual([]);
    expect(after([...late, [then, { b: [] }], [then + COPY_WITHIN_MS, { b: [] }]])).toEqual(['b']);
  });

  it('begins anew once it has left', () => {
    expect(
      after([
        [0, { b: [] }],
        [COPY_WITHIN_MS, { b: [] }],
        [COPY_WITHIN_MS + 1, {}],
        [COPY_WITHIN_MS + 2, { b: [] }],
      ]),
    ).toEqual([]);
  });
});
