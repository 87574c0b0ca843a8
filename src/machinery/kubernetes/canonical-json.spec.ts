import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.js';
import { sameJson } from './json-values.js';

describe('canonicalJson', () => {
  it('is the same text for values that are the same JSON, and for no others', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(sameJson(one, other));
      }),
    );
  });

  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: undefined }, {}, true],
    [[], {}, false],
    [[['a', 1], ['']], { a: 1 }, false],
    [{ a: 1 }, { a: '1' }, false],
    [[1, 2], [2, 1], false],
  ])('compares %j and %j', (one, other, isSame) => {
    expect(canonicalJson(one) === canonicalJson(other)).toBe(isSame);
  });
});
