import { describe, expect, it } from 'vitest';
import { warningsIn } from './admin-client.js';

describe('the warnings of an answer', () => {
  it.each([
    ['', []],
    ['299 - "one is missing"', ['one is missing']],
    ['299 - "one, of two", 299 - "says \\"no\\""', ['one, of two', 'says "no"']],
  ])('are the texts of its header (%#)', (header, texts) => {
    expect(warningsIn(header)).toEqual(texts);
  });
});
