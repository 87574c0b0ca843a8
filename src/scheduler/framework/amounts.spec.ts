import fc from 'fast-check';
import { exactInteger } from '@rollkeeper/machinery/kubernetes';
import { expect, it } from 'vitest';
import { add, scale, subtract } from './amounts.js';

/** Around the last integer that a double holds, and far from it. */
const integers = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 5n, max: 2n ** 53n + 5n }),
  fc.bigInt({ min: 0n, max: 10_000n }),
);

it('amounts are computed with as with integers of any size', () => {
  fc.assert(
    fc.property(integers, integers, (one, other) => {
      const [a, b] = [exactInteger(one), exactInteger(other)];
      expect(add(a, b)).toBe(exactInteger(one + other));
      expect(subtract(a, b)).toBe(exactInteger(one - other));
      if (other > 0n && one <= other) expect(scale(a, 100, b)).toBe(Number((one * 100n) / other));
    }),
  );
});
