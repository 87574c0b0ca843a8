import { describe, expect, it } from 'vitest';
import { KnownTexts } from './followed-resources.js';

const keyOf = (name: string, namespace = '') => ({ resource: 'pods', namespace, name });

/** Reads texts as long as they begin with a brace, and counts how often. */
function aReader() {
  const read: string[] = [];
  const find = (text: string) => () => {
    read.push(text);
    return text.startsWith('{') ? undefined : 'no JSON';
  };
  return { find, read };
}

describe('known texts', () => {
  it('are read once, for each key', () => {
    const known = new KnownTexts();
    const { find, read } = aReader();
    for (let list = 0; list < 3; list++)
      for (const key of [keyOf('a'), keyOf('a', 'x'), keyOf('b', 'x')])
        expect(known.problemOf(key, '{}', find('{}'))).toBeUndefined();
    expect(read).toHaveLength(3);
  });

  it('are read again once they have changed, also back', () => {
    const known = new KnownTexts();
    const { find, read } = aReader();
    for (const text of ['{"a":1}', '{"a":2}', '{"a":1}']) known.problemOf(keyOf('a'), text, find(text));
    expect(read).toEqual(['{"a":1}', '{"a":2}', '{"a":1}']);
  });

  it('have their problem each time, as long as they have it', () => {
    const known = new KnownTexts();
    const { find } = aReader();
    expect(known.problemOf(keyOf('a'), '{}', find('{}'))).toBeUndefined();
    for (let list = 0; list < 2; list++) expect(known.problemOf(keyOf('a'), '?', find('?'))).toBe('no JSON');
    expect(known.problemOf(keyOf('a'), '{}', find('{}'))).toBeUndefined();
  });

  it('are as many as are remembered', () => {
    const known = new KnownTexts(2);
    const { find, read } = aReader();
    for (const name of ['a', 'b', 'c', 'c', 'b', 'a']) known.problemOf(keyOf(name), '{}', find('{}'));
    expect(read).toHaveLength(4);
  });
});
