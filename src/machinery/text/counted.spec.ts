import { describe, expect, it } from 'vitest';
import { counted } from './counted.js';

describe('a number of things', () => {
  it.each([
    [0, '0 pods'],
    [1, '1 pod'],
    [2, '2 pods'],
  ])('has its noun in the number of %d', (count, text) => {
    expect(counted(count, 'pod')).toBe(text);
  });

  it('takes a plural that is given', () => {
    expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
  });
});
