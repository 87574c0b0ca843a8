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

  it.each(['a b', '=x', 'a in', 'a in (b', 'a=b=c', 'a>x', 'a>9223372036854775808', 'a,,b', '-a=b'])(
    'refuses %s',
    (text) => {
      expect(() => parseLabelSelector(text)).toThrow(/unable to parse requirement/);
    },
  );
});
