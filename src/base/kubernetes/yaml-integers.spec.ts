import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { exactIntegerTags } from './yaml-integers.js';

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

  it('what is written is read again', () => {
    const object = { a: 9007199254740993n, b: [-9007199254740993n, 3] };
    expect(parse(stringify(object), { customTags: exactIntegerTags })).toEqual(object);
  });
});
