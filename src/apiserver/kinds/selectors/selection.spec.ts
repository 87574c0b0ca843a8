import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './selection.js';

describe('parseLabelSelector', () => {
  it.each([
    ['a=1', { a: '1' }, true],
    ['a==1', { a: '1' }, true],
    ['a=1', {}, false],
    ['a!=1', {}, true],
    ['a!=1', { a: '1' }, false],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: 'x' }, false],
    ['a in (1, 2)', { a: '2' }, true],
    ['a in (1,2)', {}, false],
    ['a notin (1,2)', {}, true],
    ['a notin (1,2)', { a: '1' }, false],
    ['a in (1,2),b!=3', { a: '1', b: '3' }, false],
    ['a>5', { a: '6' }, true],
    ['a<5', { a: '6' }, false],
    ['a>5', { a: 'x' }, false],
    ['a>9007199254740992', { a: '9007199254740993' }, true],
    ['a<9007199254740993', { a: '9007199254740993' }, false],
    ['a=', { a: '' }, true],
    ['example.com/x=y', { 'example.com/x': 'y' }, true],
  ])('%s of %j is %s', (text, labels, expected) => {
    expect(parseLabelSelector(text)!(labels)).toBe(expected);
  });

  it('selects everything when it is empty', () => {
    expect(parseLabelSelector('')).toBeUndefined();
    expect(parseLabelSelector(null)).toBeUndefined();
  });

  it.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a==b==c', "found '==', expected: ',' or 'end of string'"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['!!', "unable to parse requirement: found '!', expected: identifier"],
    ['a>x', "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
    ['a>9223372036854775808', "for 'Gt', 'Lt' operators, the value must be an integer"],
    ['-a=b', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'],
    ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be'],
  ])('refuses %s in the words of a genuine server', (text, words) => {
    expect(() => parseLabelSelector(text)).toThrow(words);
  });

  it.each(['a in (,b)', 'a in (b,)', 'a notin ()', 'in=x', 'a = b , c', 'a in (in, notin)'])(
    'takes %s',
    (text) => {
      expect(parseLabelSelector(text)).toBeDefined();
    },
  );
});
