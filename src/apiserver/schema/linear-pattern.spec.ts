import { describe, expect, it } from 'vitest';
import { PatternSyntaxError, linearPattern } from './linear-pattern.js';

describe('patterns of users', () => {
  it.each([
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'abc1', false],
    ['\\Aa\\z', 'a', true],
    ['(?i)^ABC$', 'abc', true],
    ['b', 'abc', true],
    ['^\\p{L}+$', 'é', true],
  ])('are read as Go reads them: %s on %s', (pattern, text, matches) => {
    expect(linearPattern(pattern).test(text)).toBe(matches);
  });

  it.each(['(', 'a**', '(?=a)', '\\1'])('are refused when Go knows no such: %s', (pattern) => {
    expect(() => linearPattern(pattern)).toThrow(PatternSyntaxError);
  });

  it('end on texts that others backtrack on for ages', () => {
    expect(linearPattern('^(a+)+$').test(`${'a'.repeat(5_000)}b`)).toBe(false);
  });
});
