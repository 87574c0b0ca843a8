import fc from 'fast-check';
import { validateHeaderValue } from 'node:http';
import { describe, expect, it } from 'vitest';
import { warningHeaders } from './send.js';

describe('warningHeaders', () => {
  it('quotes what a quoted string cannot hold', () => {
    expect(warningHeaders(['unknown field "a\\b"'])).toEqual(['299 - "unknown field \\"a\\\\b\\""']);
  });

  it('sends a text once, and none that has a control character', () => {
    expect(warningHeaders(['a', 'a', '', 'b\nc', 'd\u0085', 'e'])).toEqual(['299 - "a"', '299 - "e"']);
  });

  it('writes other alphabets as UTF-8', () => {
    const [header = ''] = warningHeaders(['поле 字段 😀']);
    expect(Buffer.from(header, 'latin1').toString('utf8')).toBe('299 - "поле 字段 😀"');
  });

  it('cuts texts that are too much together, at a whole character', () => {
    const headers = warningHeaders(
      Array.from({ length: 1000 }, (_, index) => `${index} ${'😀'.repeat(300)}`),
    );
    expect(headers.join('').length).toBeLessThan(40_000);
    for (const header of headers)
      expect(Buffer.from(header, 'latin1').toString('utf8')).not.toContain('\ufffd');
  });

  it('never makes what Node refuses as a header, nor more than a client takes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 2000 }), { maxLength: 200 }), (texts) => {
        const headers = warningHeaders(texts);
        for (const header of headers) validateHeaderValue('Warning', header);
        expect(headers.join('').length).toBeLessThan(60_000);
      }),
      { numRuns: 300 },
    );
  });
});
