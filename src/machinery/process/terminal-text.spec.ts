import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapedLine, escapedText, styledText, terminalText, unstyledText } from './terminal-text.js';

const hostile = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});
const CONTROLS = /(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

describe('text for a terminal', () => {
  it('shows sequences of others and never sends them', () => {
    expect(terminalText('a\u001b]0;OWNED\u0007\u001b[31mb\u009b31m\r\n\tc\u202ed')).toBe(
      'a\\u001b]0;OWNED\\u0007\\u001b[31mb\\u009b31m\\u000d\n\tc\\u202ed',
    );
    expect(escapedLine('a\nb\tc')).toBe('a\\u000ab\\u0009c');
  });

  it('holds no control character, for any text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(terminalText(text)).not.toMatch(CONTROLS);
      }),
    );
  });

  it('has the codes of our own styles around an escaped text', () => {
    const styled = styledText('a\u001b[0mb', 31, 39);
    expect(terminalText(`x${styled}`)).toBe('x\u001b[31ma\\u001b[0mb\u001b[39m');
    expect(unstyledText(styled)).toBe('a\u001b[0mb');
  });

  it('leaves JSON valid and equal', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(JSON.parse(escapedText(JSON.stringify({ text })))).toEqual({ text });
      }),
    );
  });
});
