import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './watch-stream.js';

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut, also in the middle of a character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text))),
        fc.array(fc.nat({ max: 200 })),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8');
          const splitter = new LineSplitter();
          const seen: string[] = [];
          let start = 0;
          for (const end of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
            if (end <= start || end > bytes.length) continue;
            seen.push(...splitter.push(bytes.subarray(start, end)));
            start = end;
          }
          expect(seen).toEqual(lines);
          expect(splitter.hasPartialLine).toBe(false);
        },
      ),
    );
  });

  it('knows that a stream stopped within a line', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('{"a":1}\n{"b"'))).toEqual(['{"a":1}']);
    expect(splitter.hasPartialLine).toBe(true);
  });
});
