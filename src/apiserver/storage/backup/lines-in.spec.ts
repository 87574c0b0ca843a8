import { describe, expect, it } from 'vitest';
import { linesIn } from './backup-file.js';

async function* each(...chunks: readonly string[]): AsyncGenerator<string> {
  yield* chunks;
}

async function read(...chunks: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesIn(each(...chunks), 10)) lines.push(line);
  return lines;
}

describe('linesIn', () => {
  it('finds the lines in chunks that end anywhere', async () => {
    expect(await read('a\nb', 'c', '\n', '\n', 'd')).toEqual(['a', 'bc', '', 'd']);
    expect(await read('a\n')).toEqual(['a']);
    expect(await read()).toEqual([]);
  });

  it('refuses a line that is too long before it has all of it', async () => {
    let given = 0;
    const endless = async function* (): AsyncGenerator<string> {
      for (;;) {
        given++;
        yield 'xxxx';
      }
    };
    const reading = linesIn(endless(), 10);
    await expect(reading.next()).rejects.toThrow('a line in it has more than 10 characters');
    expect(given).toBe(3);
  });
});
