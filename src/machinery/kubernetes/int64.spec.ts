import { describe, expect, it } from 'vitest';
import { exactInteger, parseInt64, toInt64, exactIntegerTags } from './int64.js';
import { parse, stringify } from 'yaml';

describe('exactInteger', () => {
  it('is a number as long as a double holds it, else a bigint', () => {
    expect(exactInteger(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(exactInteger(2n ** 53n)).toBe(2n ** 53n);
    expect(exactInteger(-(2n ** 53n) + 1n)).toBe(-(2 ** 53) + 1);
    expect(exactInteger(-(2n ** 53n))).toBe(-(2n ** 53n));
    expect(exactInteger(0n)).toBe(0);
  });
});

describe('toInt64', () => {
  it.each([
    ['a number', 30, 30],
    ['the smallest', -(2n ** 63n), -(2n ** 63n)],
    ['the largest', 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['one below the smallest', -(2n ** 63n) - 1n, undefined],
    ['one above the largest', 2n ** 63n, undefined],
    ['a double that is an integer', 1e17, 100000000000000000n],
    ['a double beyond the largest', 2 ** 63, undefined],
    ['a fraction', 1.5, undefined],
    ['no number', Infinity, undefined],
    ['text', '1', undefined],
  ])('%s', (_name, value, expected) => {
    expect(toInt64(value)).toBe(expected);
  });
});

describe('parseInt64', () => {
  it.each([
    ['0', 0n],
    ['+7', 7n],
    ['-7', -7n],
    ['007', 7n],
    ['3546343826724305832', 3546343826724305832n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    [`${'0'.repeat(40)}1`, 1n],
    ['9223372036854775808', undefined],
    ['-9223372036854775809', undefined],
    ['9999999999999999999', undefined],
    ['9'.repeat(1_000_000), undefined],
    ['', undefined],
    ['-', undefined],
    ['1.0', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['1_000', undefined],
    [' 1', undefined],
  ])('reads %.40s as Go does', (text, expected) => {
    expect(parseInt64(text)).toBe(expected);
  });
});

describe('exactIntegerTags', () => {
  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['0x20000000000001', 9007199254740993n],
    ['9_007_199_254_740_993', 9007199254740993n],
    ['"9007199254740993"', '9007199254740993'],
    ['30', 30],
    ['010', 8],
    ['1.5', 1.5],
  ])('reads %s', (text, expected) => {
    expect(parse(`a: ${text}`, { version: '1.1', customTags: exactIntegerTags })).toEqual({ a: expected });
  });

  it('reads again what was written', () => {
    const object = { a: 9007199254740993n, b: [-9007199254740993n, 3] };
    expect(parse(stringify(object), { customTags: exactIntegerTags })).toEqual(object);
  });
});
