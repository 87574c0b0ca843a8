import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from './replace-file.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rollkeeper-files-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('replaceFile', () => {
  it('leaves the content and the mode asked for, whatever was there, and nothing beside it', async () => {
    await writeFile(join(dir, 'key'), 'longer than what follows', { mode: 0o644 });
    await replaceFile(join(dir, 'key'), 'new', { mode: 0o600 });
    expect(await readFile(join(dir, 'key'), 'utf8')).toBe('new');
    expect((await stat(join(dir, 'key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dir)).toEqual(['key']);
  });

  it('leaves what was there, and nothing beside it, where it fails', async () => {
    const path = join(dir, 'a-folder');
    await replaceFile(join(dir, 'key'), 'old', { mode: 0o600 });
    await expect(replaceFile(join(dir, 'key', 'below'), 'new', { mode: 0o600 })).rejects.toThrow('ENOTDIR');
    await expect(replaceFile(join(path, 'key'), 'new', { mode: 0o600 })).rejects.toThrow('ENOENT');
    expect(await readFile(join(dir, 'key'), 'utf8')).toBe('old');
    expect(await readdir(dir)).toEqual(['key']);
  });
});
