import { describe, expect, it } from 'vitest';
import { semanticEqual } from './semantic-equal.js';

describe('semanticEqual', () => {
  it.each([
    [undefined, null],
    [{ a: undefined }, {}],
    [{ a: [] }, { b: {} }],
    [{ a: { b: null } }, {}],
    [
      { a: 1, b: [{ c: 'd' }] },
      { b: [{ c: 'd' }], a: 1 },
    ],
  ])('takes %j and %j for the same', (a, b) => {
    expect(semanticEqual(a, b)).toBe(true);
    expect(semanticEqual(b, a)).toBe(true);
  });

  it.each([
    [0, undefined],
    ['', undefined],
    [false, undefined],
    [1, '1'],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [[{}], []],
  ])('tells %j from %j', (a, b) => {
    expect(semanticEqual(a, b)).toBe(false);
    expect(semanticEqual(b, a)).toBe(false);
  });
});
