import { describe, expect, it } from 'vitest';
import { sameMeaning, semanticEqual } from './semantic-equal.js';

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

describe('equality of what the API server keeps', () => {
  it.each([
    [{ a: [] }, {}],
    [{ a: null }, {}],
    [{ a: {} }, { a: {} }],
  ])('takes %j and %j for the same', (a, b) => {
    expect(sameMeaning(a, b)).toBe(true);
  });

  it.each([
    [{ namespaceSelector: {} }, {}],
    [{ a: { b: {} } }, { a: {} }],
  ])('tells %j from %j: an empty struct says something', (a, b) => {
    expect(sameMeaning(a, b)).toBe(false);
    expect(sameMeaning(b, a)).toBe(false);
  });
});
