import fileSystem, { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { replaceFunctions } from '../../../testing/replace-functions.js';
import { waitFor } from '../../../testing/wait-for.js';
import { keepSynced } from './redis-process.js';

const synced: string[] = [];

const { open } = fileSystem;
const restore = replaceFunctions(fileSystem, {
  open: async (...[path, flags, mode]: Parameters<typeof open>) => {
    if (String(path).endsWith('.gone')) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    const file = await open(path, flags, mode);
    const datasync = file.datasync.bind(file);
    file.datasync = async () => {
      await datasync();
      synced.push(basename(String(path)));
    };
    return file;
  },
});
afterAll(restore);

describe('the files that Redis appends to', () => {
  let dir: string;
  let clock: FakeClock;
  let stop: AbortController;
  let running: Promise<void>;
  let warnings: string[];

  beforeEach(async () => {
    synced.length = 0;
    warnings = [];
    dir = await mkdtemp(join(tmpdir(), 'rollkeeper-append-only-'));
    clock = new FakeClock();
    stop = new AbortController();
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    running = keepSynced({ dir, clock, logger }, stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await rm(dir, { recursive: true, force: true });
  });

  it('is put on the disk once a second, whatever Redis has put in its place meanwhile', async () => {
    await mkdir(join(dir, 'appendonlydir'));
    for (const name of ['1.base.rdb', '1.gone', '1.incr.aof'])
      await writeFile(join(dir, 'appendonlydir', name), '');
    await clock.advance(999);
    expect(synced).toEqual([]);
    await clock.advance(1);
    await waitFor(() => synced.length === 2);
    expect(synced).toEqual(['1.base.rdb', '1.incr.aof']);
    await waitFor(async () => {
      await clock.advance(1000);
      return synced.length >= 4;
    });
    expect(warnings).toEqual([]);
  });

  it('is tried again, with a word of it, where that fails', async () => {
    await clock.advance(1000);
    await waitFor(() => warnings.length === 1);
    await mkdir(join(dir, 'appendonlydir'));
    await writeFile(join(dir, 'appendonlydir', '1.incr.aof'), '');
    await waitFor(async () => {
      await clock.advance(1000);
      return synced.length > 0;
    });
    expect(warnings[0]).toContain('cannot be put on the disk');
  });
});
