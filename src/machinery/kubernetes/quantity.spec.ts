import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalQuantity, formatQuantity, NANOS, nanosOf, parseQuantity, roundedUp } from './quantity.js';

describe('quantities', () => {
  it.each([
    ['0', '0'],
    ['1', '1'],
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['512Ki', '512Ki'],
    ['0.5Ki', '512'],
    ['1e3', '1e3'],
    ['1000e0', '1e3'],
    ['2000000', '2M'],
    ['-5', '-5'],
    ['+5', '5'],
    ['100n', '100n'],
    ['0.0000000001', '1n'],
    ['0Mi', '0'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it.each(['', 'abc', '1.2.3', '1 Gi', '1GiB', '1e', '--1', '0x10', '4Gi\n'])('refuses %j', (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  });

  it.each(['Mi', '-', '.', ' 0 '])('reads %j, which has no digit that counts, as zero', (text) => {
    expect(canonicalQuantity(text)).toBe('0');
  });

  it.each([
    ['100u', '1m'],
    ['-1100u', '-2m'],
    ['1500m', '1500m'],
    ['0.1Ki', '102400m'],
    ['x', 'x'],
  ])('rounds %s to thousandths, away from zero', (text, rounded) => {
    expect(roundedUp(canonicalQuantity(text) ?? text)).toBe(rounded);
  });

  it('keeps the value, and writing it twice changes nothing', () => {
    const texts = fc
      .tuple(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.nat({ max: 999 }),
        fc.constantFrom('', 'm', 'u', 'n', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e2', 'E-1'),
      )
      .map(([whole, fraction, suffix]) => `${whole}.${fraction}${suffix}`);
    fc.assert(
      fc.property(texts, (text) => {
        const canonical = canonicalQuantity(text) as string;
        expect(parseQuantity(canonical)?.nanos).toBe(parseQuantity(text)?.nanos);
        expect(canonicalQuantity(canonical)).toBe(canonical);
        const parsed = parseQuantity(text);
        expect(parsed && formatQuantity(parsed)).toBe(canonical);
      }),
    );
  });

  it.each([
    ['100m', NANOS / 10n],
    ['1Gi', 1024n ** 3n * NANOS],
    [3, 3n * NANOS],
    ['nonsense', 0n],
    [undefined, 0n],
  ])('counts %j in billionths: what is absent or no quantity is nothing', (amount, nanos) => {
    expect(nanosOf(amount)).toBe(nanos);
  });
});
