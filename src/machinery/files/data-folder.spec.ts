import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimDataFolder } from './data-folder.js';
import { UntrustedFileError, openOwnLog, readNamedSecret, readOwnFile } from './own-files.js';

const ANOTHER_USER = 54_321;
const isRoot = process.geteuid?.() === 0;

let base: string;
let dir: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'rollkeeper-data-'));
  dir = join(base, 'data');
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('the claim of a data folder', () => {
  it('makes it, with those above it, for this user alone', async () => {
    const deep = join(base, 'a', 'b');
    expect(await claimDataFolder(deep)).toEqual({ isShared: false });
    for (const folder of [deep, join(base, 'a')]) expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it('takes over what an earlier start has left', async () => {
    await mkdir(join(dir, 'redis', 'appendonlydir'), { recursive: true, mode: 0o700 });
    await mkdir(join(dir, 'logs'));
    await writeFile(join(dir, 'token'), 'sesame', { mode: 0o644 });
    await writeFile(join(dir, 'logs', 'apiserver.log'), '');
    expect(await claimDataFolder(dir)).toEqual({ isShared: false });
  });

  it('leaves a folder that others may read as it is, and says so', async () => {
    await mkdir(dir, { mode: 0o755 });
    expect(await claimDataFolder(dir)).toEqual({ isShared: true });
    expect((await stat(dir)).mode & 0o777).toBe(0o755);
  });

  it('refuses a folder that everybody may change, and says what to do', async () => {
    await mkdir(dir);
    await chmod(dir, 0o777);
    const claim = claimDataFolder(dir);
    await expect(claim).rejects.toThrow(UntrustedFileError);
    await expect(claim).rejects.toThrow(
      /data \(user \d+, group \d+, mode 0777\) can be changed by other users.*chmod go-w/,
    );
  });

  it.each([
    'token',
    'admin-token',
    'redis-password',
    'service-account.key',
    'ca.key',
    'run.json',
    'kubeconfig',
  ])('refuses a %s that everybody may change, by name', async (name) => {
    await mkdir(dir, { mode: 0o700 });
    await writeFile(join(dir, name), 'planted');
    await chmod(join(dir, name), 0o666);
    await expect(claimDataFolder(dir)).rejects.toThrow(`${join(dir, name)} (user`);
  });

  it.skipIf(!isRoot).each(['', 'token', 'logs', 'logs/apiserver.log', 'redis', 'redis/dump.rdb'])(
    'refuses another user\'s "%s" by name',
    async (name) => {
      await mkdir(join(dir, 'logs'), { recursive: true, mode: 0o700 });
      await mkdir(join(dir, 'redis'), { mode: 0o700 });
      const path = join(dir, name);
      if (/[a-z]\.|token/.test(name)) await writeFile(path, 'planted', { mode: 0o600 });
      await chown(path, ANOTHER_USER, ANOTHER_USER);
      await expect(claimDataFolder(dir)).rejects.toThrow(`${path} belongs to user ${ANOTHER_USER}`);
    },
  );

  it.skipIf(!isRoot)("refuses another user's link by name, wherever it leads", async () => {
    const { lchown } = await import('node:fs/promises');
    await mkdir(dir, { mode: 0o700 });
    await writeFile(join(base, 'elsewhere'), 'ours', { mode: 0o600 });
    await symlink(join(base, 'elsewhere'), join(dir, 'kubeconfig'));
    await lchown(join(dir, 'kubeconfig'), ANOTHER_USER, ANOTHER_USER);
    await expect(claimDataFolder(dir)).rejects.toThrow('kubeconfig is a symbolic link that user 54321 made');
  });

  it('follows a link of our own to what is ours, and judges what is there', async () => {
    await mkdir(join(base, 'disk'), { mode: 0o700 });
    await mkdir(dir, { mode: 0o700 });
    await symlink(join(base, 'disk'), join(dir, 'redis'));
    expect(await claimDataFolder(dir)).toEqual({ isShared: false });
    await chmod(join(base, 'disk'), 0o777);
    await expect(claimDataFolder(dir)).rejects.toThrow('disk (user');
  });

  it.each([
    { name: 'below a file', path: () => '/dev/null/data' },
    { name: 'below what the system makes no folders in', path: () => '/proc/rollkeeper/data' },
    { name: 'that is a file', path: () => join(base, 'file') },
  ])('ends with one line that names it, $name', async ({ path }) => {
    await writeFile(join(base, 'file'), '');
    const claim = claimDataFolder(path());
    await expect(claim).rejects.toMatchObject({ code: 'STARTUP' });
    await expect(claim).rejects.toThrow(path());
  });
});

describe('a file of ours', () => {
  it('is left to us alone where others had rights to it', async () => {
    const path = join(base, 'token');
    await writeFile(path, 'sesame', { mode: 0o644 });
    expect(await readOwnFile(path, { mode: 0o600 })).toBe('sesame');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is undefined where there is none', async () => {
    expect(await readOwnFile(join(base, 'none'))).toBeUndefined();
    await symlink(join(base, 'none'), join(base, 'link'));
    expect(await readOwnFile(join(base, 'link'))).toBeUndefined();
  });

  it('is not what others may change, named or not', async () => {
    const path = join(base, 'token');
    await writeFile(path, 'planted');
    await chmod(path, 0o646);
    await expect(readOwnFile(path)).rejects.toThrow('can be changed by other users');
    await expect(readOwnFile(path, { isNamed: true })).rejects.toThrow('can be changed by other users');
    expect(() => readNamedSecret(path)).toThrow('can be changed by other users');
  });

  it.skipIf(!isRoot)('is of whoever it is of where somebody has named it', async () => {
    const path = join(base, 'token');
    await writeFile(path, 'given', { mode: 0o600 });
    await chown(path, ANOTHER_USER, ANOTHER_USER);
    await expect(readOwnFile(path)).rejects.toThrow(`belongs to user ${ANOTHER_USER}`);
    expect(await readOwnFile(path, { isNamed: true })).toBe('given');
    expect(readNamedSecret(path)).toBe('given');
  });
});

describe('a log of ours', () => {
  it('is made for us alone, and is not written through a link', async () => {
    const path = join(base, 'log');
    closeSync(openOwnLog(path));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeFile(join(base, 'victim'), 'precious');
    await symlink(join(base, 'victim'), join(base, 'link'));
    expect(() => openOwnLog(join(base, 'link'))).toThrow('is a symbolic link, which is not written through');
    expect(await readFile(join(base, 'victim'), 'utf8')).toBe('precious');
  });
});
