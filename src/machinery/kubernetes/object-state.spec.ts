import { describe, expect, it } from 'vitest';
import { isTerminating, mergePatch, transitionTime } from './index.js';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-01-01T00:00:10Z';

describe('the transition time of a condition', () => {
  it.each([
    ['stays while the status does', { status: 'True', lastTransitionTime: BEFORE }, BEFORE],
    ['is now when the status changes', { status: 'False', lastTransitionTime: BEFORE }, NOW],
    ['is now for a condition that had no time', { status: 'True' }, NOW],
    ['is now for a new condition', undefined, NOW],
  ])('%s', (_rule, before, time) => {
    expect(transitionTime(before, 'True', NOW)).toBe(time);
  });
});

it('an object is terminating from the time of its deletion on', () => {
  expect(isTerminating({ metadata: {} })).toBe(false);
  expect(isTerminating({ metadata: { deletionTimestamp: NOW } })).toBe(true);
});

describe('a merge patch', () => {
  it.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 'text' }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: 1 }, [1], [1]],
  ])('makes of %j by %j: %j', (target, patch, merged) => {
    expect(mergePatch(target, patch)).toEqual(merged);
  });
});
