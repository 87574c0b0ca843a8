import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeOutput } from './generate.command.js';

it('makes the folders of an output file that are missing, and replaces the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rollkeeper-output-'));
  try {
    const path = join(folder, 'chart', 'crds', 'websites.yaml');
    await writeOutput('first', path);
    await writeOutput('second', path);
    expect(await readFile(path, 'utf8')).toBe('second');
  } finally {
    await rm(folder, { recursive: true });
  }
});
