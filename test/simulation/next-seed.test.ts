import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readNextSeed, writeNextSeed } from './next-seed.js';

const folder = mkdtempSync(join(tmpdir(), 'next-seed-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a nightly run of the simulation goes on with the seed after the last one that has ended', () => {
  const file = join(folder, 'made', 'seed');
  expect(readNextSeed(file)).toBe(1);
  writeNextSeed(file, 42);
  expect(readNextSeed(file)).toBe(42);
});

it.each(['', 'nothing', '-3', '1.5'])('begins with the first seed if the file says "%s"', (text) => {
  const file = join(folder, 'other');
  writeFileSync(file, text);
  expect(readNextSeed(file)).toBe(1);
});
