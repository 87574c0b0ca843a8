import { describe, expect, it } from 'vitest';
import { sameJson } from './same-json.js';

describe('the same JSON', () => {
  it.each([
    [
      { a: 1, b: [{ c: null }] },
      { b: [{ c: null }], a: 1 },
    ],
    [{ a: undefined }, {}],
    [[], []],
    ['x', 'x'],
  ])('is in %j and %j, whatever the order of fields', (a, b) => {
    expect(sameJson(a, b)).toBe(true);
    expect(sameJson(b, a)).toBe(true);
  });

  it.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, {}],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [[], {}],
    [{}, null],
    [undefined, []],
    ['1', 1],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }],
  ])('is not in %j and %j', (a, b) => {
    expect(sameJson(a, b)).toBe(false);
    expect(sameJson(b, a)).toBe(false);
  });
});
