import { describe, expect, it } from 'vitest';
import { checkListOptions, parseVersion, watchedFrom } from './list-options.js';

const queryOf = (text: string): URLSearchParams => new URLSearchParams(text);

describe('the options of a list', () => {
  it.each([
    ['limit=x&labelSelector=a gt 1', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=a gt 1&fieldSelector=a&resourceVersionMatch=Odd', "found 'gt', expected"],
    ['fieldSelector=a&resourceVersionMatch=Odd', "invalid selector: 'a'; can't understand 'a'"],
    ['fieldSelector=a=\\b&resourceVersionMatch=Odd', 'invalid field selector: invalid escape sequence: \\b'],
    ['resourceVersionMatch=Odd', 'resourceVersionMatch is forbidden unless resourceVersion is provided'],
  ])('are judged in the order of a genuine server: %s', (text, words) => {
    expect(() => checkListOptions(queryOf(text))).toThrow(words);
  });

  it.each(['fieldSelector==', 'fieldSelector=a=\\\\b', 'labelSelector=a notin ()'])('may be %s', (text) => {
    expect(() => checkListOptions(queryOf(text))).not.toThrow();
  });

  it.each([
    ['-1', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
    ['9'.repeat(1000), 'value out of range'],
  ])('refuse the version %s', (version, words) => {
    expect(() => parseVersion(queryOf(`resourceVersion=${version}`), 'list')).toThrow(words);
  });
});

describe('the beginning of a watch', () => {
  it.each([
    ['', true],
    ['resourceVersion=0', true],
    ['resourceVersion=5', undefined],
    ['resourceVersion=5&sendInitialEvents=x&resourceVersionMatch=NotOlderThan', true],
    ['sendInitialEvents=false', false],
  ])('sends what there is, by the query %j: %s', (text, sendsInitial) => {
    expect(watchedFrom(queryOf(text)).sendsInitial).toBe(sendsInitial);
  });

  it('is from any version unless it continues', () => {
    const check = () => checkListOptions(queryOf('continue=abc'), { isWatch: true });
    expect(check).toThrow('resourceVersionMatch is forbidden when continue is provided');
    expect(() => checkListOptions(queryOf('resourceVersion=5&continue=x'), { isWatch: true })).not.toThrow();
  });
});
