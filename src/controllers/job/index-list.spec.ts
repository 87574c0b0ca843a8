import { describe, expect, it } from 'vitest';
import { formatIndexes, parseIndexes } from './index-list.js';

describe('a list of indexes', () => {
  it.each([
    { indexes: [], text: '' },
    { indexes: [3], text: '3' },
    { indexes: [7, 1, 3, 4, 5], text: '1,3-5,7' },
    { indexes: [1, 2, 4, 5, 6], text: '1,2,4-6' },
  ])('is written as $text', ({ indexes, text }) => {
    expect(formatIndexes(new Set(indexes))).toBe(text);
    expect(parseIndexes(text, 100)).toEqual(new Set(indexes));
  });

  it('is read up to the number of completions, and up to what cannot be read', () => {
    expect(parseIndexes('0-5,8-10', 8)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(parseIndexes('0,1-foo,2', 8)).toEqual(new Set([0]));
  });
});
