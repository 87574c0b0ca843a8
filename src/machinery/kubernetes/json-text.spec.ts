import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cloneJson, sameJson } from './json-values.js';
import { exactInteger } from './int64.js';
import { holdsLargeInteger, parseJson, stringifyJson } from './json-text.js';

/** API JSON: any value, including integers of any size. */
const { value: jsonWithIntegers } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(exactInteger),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(exactInteger),
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
  ),
}));

/** The text before and after a number. */
const places: readonly (readonly [string, string])[] = [
  ['', ''],
  ['{"a":', '}'],
  ['{"a": ', ' }'],
  ['[', ']'],
  ['[1,', ',2]'],
  ['{"a":[{"b":\n', '\n}]}'],
];

describe('parseJson and stringifyJson', () => {
  it('give back every value as it was, whatever its integers', () => {
    fc.assert(
      fc.property(jsonWithIntegers, fc.constantFrom(undefined, 2), (value, space) => {
        const text = stringifyJson(value, space);
        expect(stringifyJson(parseJson(text), space)).toBe(text);
      }),
    );
  });

  it.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '3546343826724305832',
    '9223372036854775807',
    '-9223372036854775808',
    '9223372036854775808',
    '99999999999999999999999999',
  ])('keep %s in every place where a number may stand', (number) => {
    for (const [before, after] of places) {
      const compact = (before + number + after).replace(/\s/g, '');
      expect(stringifyJson(parseJson(before + number + after))).toBe(compact);
    }
  });

  it('keep as numbers what a double can hold, and what is no integer', () => {
    const text =
      '[9007199254740991,-9007199254740991,1e300,0.12345678901234567,1.5,123456789012345680.5,1e16]';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('leave digits in strings and in names alone', () => {
    const text = '{"12345678901234567890":"a 12345678901234567890, b","c":9007199254740993}';
    expect(parseJson(text)).toEqual({
      '12345678901234567890': 'a 12345678901234567890, b',
      c: 9007199254740993n,
    });
  });

  it('take a field named __proto__ for a field', () => {
    const text = '{"__proto__":{"a":9007199254740993}}';
    expect(Object.getPrototypeOf(parseJson(text))).toBe(Object.prototype);
    expect(stringifyJson(parseJson(text))).toBe(text);
  });

  it('do not read a number that is longer than any double', () => {
    expect(parseJson(`[${'9'.repeat(400)}]`)).toEqual([Infinity]);
  });

  it('refuse what is no JSON, and what refers to itself', () => {
    expect(() => parseJson('{"a":9007199254740993')).toThrow(SyntaxError);
    const circle: Record<string, unknown> = { large: 9007199254740993n };
    circle['circle'] = circle;
    expect(() => stringifyJson(circle)).toThrow(TypeError);
  });

  it('make values that are compared and copied like any other', () => {
    const [a, b, other] = [
      '{"a":[9007199254740993]}',
      '{"a":[9007199254740993]}',
      '{"a":[9007199254740992]}',
    ].map(parseJson);
    expect(sameJson(a, b)).toBe(true);
    expect(sameJson(a, other)).toBe(false);
    expect(cloneJson(a)).toEqual(a);
    expect(structuredClone(a)).toEqual(a);
  });
});

describe('holdsLargeInteger', () => {
  it('finds one wherever it begins', () => {
    for (let shift = 0; shift < 40; shift++) {
      expect(holdsLargeInteger(`"${'x'.repeat(shift)}",9007199254740992 `)).toBe(true);
      expect(holdsLargeInteger(`"${'x'.repeat(shift)}",9007199254740991 `)).toBe(false);
    }
  });

  it.each([
    ['a digest', '"nginx@sha256:12345678901234567890123456789012345678901234567890abcdefabcdefabcd"'],
    ['a trace', '"00-12345678901234567890123456789012-1234567890123456-01"'],
    ['microseconds since 1970', '{"t":1767225600000000}'],
    ['a fraction', '[0.12345678901234567]'],
    ['an exponent', '[12345678901234567e2]'],
    ['a number in quotes', '{"deployment.kubernetes.io/revision":"3546343826724305832"}'],
  ])('does not take %s for one', (_name, text) => {
    expect(holdsLargeInteger(text)).toBe(false);
  });

  it('reads a long row of digits once', () => {
    const text = `"${`${'1'.repeat(1_000_000)}a`.repeat(8)}"`;
    expect(holdsLargeInteger(text)).toBe(false);
  });
});
