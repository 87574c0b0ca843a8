import { closeSync, constants, fstatSync, openSync, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { StartupError, errorCode } from '../errors/index.js';
import type { Distrust, ProcessOwner } from './decide-trust.js';
import { flagsFor, readOpenFile, unlessMissing } from './named-file.js';
import { placeOf, processOwner } from './process-owner.js';
import { judgeFile, judgeFolder, judgeLink, judgeNamedFile } from './decide-trust.js';

/** A file or folder that other users of the machine could have planted. */
export class UntrustedFileError extends StartupError {}

/**
 * The metadata of a folder itself; a link is not followed.
 * @throws UntrustedFileError; the system's error if there is none
 */
export async function assertOwnFolder(path: string): Promise<Stats> {
  const self = processOwner();
  const real = await realpath(await withoutLink(path, self));
  const facts = await stat(real);
  if (!facts.isDirectory()) throw new StartupError(`${path} is not a folder`);
  assertTrusted(path, facts, self && judgeFolder(facts, self, placeOf(real)));
  return facts;
}

interface ReadOwnFileOptions {
  /** The mode to set if others had more rights. @default unchanged */
  readonly mode?: number;
  /**
   * Whether the user named this very file, so that links in its path and its owner are the user's choice. @default
   * false
   */
  readonly isNamed?: boolean;
}

/**
 * The content of one of our files; undefined if there is none.
 * @throws UntrustedFileError; the system's error
 */
export async function readOwnFile(
  path: string,
  { isNamed = false, mode }: ReadOwnFileOptions = {},
): Promise<string | undefined> {
  const self = processOwner();
  const followed = await (isNamed ? path : withoutLink(path, self).catch(unlessMissing));
  const real = followed === undefined ? undefined : await realpath(followed).catch(unlessMissing);
  if (real === undefined) return undefined;
  const file = await openExisting(real);
  if (!file) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new UntrustedFileError(`${path} is not a regular file`);
    const judge = isNamed ? judgeNamedFile : judgeFile;
    assertTrusted(path, facts, self && judge(facts, self, placeOf(real)));
    if (mode !== undefined && (facts.mode & 0o777 & ~mode) !== 0)
      await file.chmod(mode).catch(() => undefined);
    return readOpenFile(path, file.fd).toString('utf8');
  } finally {
    await file.close();
  }
}

/** Windows has none. */
const { O_NOFOLLOW = 0 }: { readonly O_NOFOLLOW?: number } = constants;

/** Opens a file of ours to write at its end; makes it for this user alone. @throws UntrustedFileError; the system's error */
export function openOwnLog(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const fd = openNotFollowing(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
  const self = processOwner();
  const facts = fstatSync(fd);
  try {
    assertTrusted(path, facts, self && judgeFile(facts, self, placeOf(realpathSync(path))));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * The content of a file that the user named; others must not be able to change it.
 * @throws UntrustedFileError; as `readNamedFile`
 */
export function readNamedSecret(path: string): string {
  const fd = openSync(path, flagsFor(path));
  try {
    const self = processOwner();
    const facts = fstatSync(fd);
    assertTrusted(
      path,
      facts,
      self && facts.isFile() ? judgeNamedFile(facts, self, placeOf(realpathSync(path))) : undefined,
    );
    return readOpenFile(path, fd).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** @throws UntrustedFileError that says what to do */
export function assertTrusted(path: string, facts: Stats, distrust: Distrust | undefined): void {
  if (distrust !== undefined) throw new UntrustedFileError(explain(path, facts, distrust));
}

/** The target of `path`; a link is followed if it is ours. */
async function withoutLink(path: string, self: ProcessOwner | undefined): Promise<string> {
  const facts = await lstat(path);
  if (!facts.isSymbolicLink()) return path;
  assertTrusted(path, facts, self && judgeLink(facts, self));
  return realpath(path);
}

function openExisting(path: string) {
  return open(path, flagsFor(path) | O_NOFOLLOW).catch(unlessMissing);
}

function openNotFollowing(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    if (errorCode(error) !== 'ELOOP') throw error;
    throw new UntrustedFileError(`${path} is a symbolic link, which is not written through: remove it`, {
      cause: error,
    });
  }
}

function explain(path: string, { gid, mode, uid }: Stats, distrust: Distrust): string {
  const rights = `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
  const us = process.geteuid?.();
  switch (distrust) {
    case 'foreign':
      return `${path} belongs to user ${uid}, and this process runs as user ${us}: who made it knows what is in it. Use a folder of your own, or, if you trust its content, chown it to user ${us}`;
    case 'writable':
      return `${path} (user ${uid}, group ${gid}, ${rights}) can be changed by other users. Make sure that its content is yours and run chmod go-w on it, or use another folder`;
    case 'link':
      return `${path} is a symbolic link that user ${uid} made, and this process runs as user ${us}: remove it, or use a folder of your own`;
  }
}
