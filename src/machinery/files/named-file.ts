import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { StartupError } from '../errors/index.js';

/** A file that a user named, and that is none to read a text from. */
export class UnreadableFileError extends StartupError {}

/** The largest file that is read as a whole, bytes. Configurations, certificates and manifests are far smaller. */
export const LARGEST_FILE_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

/** Windows has none. */
const { O_NONBLOCK = 0 }: { readonly O_NONBLOCK?: number } = constants;

/** An open file of this process, such as standard input or `<(command)` of a shell, whose writer exists already. */
const INHERITED = /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/;

/**
 * The text of a file that a user named, in UTF-8.
 * @throws UnreadableFileError if it is no regular file, or larger than {@link LARGEST_FILE_BYTES}. A named pipe would
 *   be waited for without an end, so only pipes that this process inherited are read. Otherwise the system's error.
 */
export async function readNamedFile(path: string): Promise<string> {
  const file = await openNamedFile(path);
  try {
    assertSize(path, (await file.stat()).size);
    const chunks: Buffer[] = [];
    for await (const chunk of file.createReadStream({ end: LARGEST_FILE_BYTES, autoClose: false }))
      chunks.push(chunk as Buffer);
    return joined(path, chunks).toString('utf8');
  } finally {
    await file.close();
  }
}

/**
 * As {@link readNamedFile}, the bytes, for places that cannot wait.
 * @throws as {@link readNamedFile}
 */
export function readNamedFileSync(path: string): Buffer {
  const fd = openSync(path, flagsFor(path));
  try {
    return readOpenFile(path, fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens a file of any size that a user named. The caller closes it.
 * @throws UnreadableFileError if it is no regular file; the system's error
 */
export async function openNamedFile(path: string): Promise<FileHandle> {
  const file = await open(path, flagsFor(path));
  try {
    assertReadable(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Refuses what {@link readNamedFile} does not read, for a file that something else opens, such as a module.
 * A missing file is left to what opens it.
 * @throws UnreadableFileError; the system's error
 */
export async function assertNamedFile(path: string): Promise<void> {
  const facts = await stat(path).catch(unlessMissing);
  if (!facts) return;
  assertReadable(path, facts);
  assertSize(path, facts.size);
}

/** The rest of an open file. @throws UnreadableFileError */
export function readOpenFile(path: string, fd: number): Buffer {
  const facts = fstatSync(fd);
  assertReadable(path, facts);
  assertSize(path, facts.size);
  const chunks: Buffer[] = [];
  for (let total = 0; total <= LARGEST_FILE_BYTES;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const length = readSync(fd, chunk);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  return joined(path, chunks);
}

/** Opening a named pipe waits for its writer, unless the open is not to block. */
export function flagsFor(path: string): number {
  return INHERITED.test(path) ? constants.O_RDONLY : constants.O_RDONLY | O_NONBLOCK;
}

function assertReadable(path: string, facts: Stats): void {
  if (facts.isFile() || (INHERITED.test(path) && !facts.isDirectory())) return;
  throw new UnreadableFileError(`${path} is ${sortOf(facts)}, not a regular file`);
}

function sortOf(facts: Stats): string {
  if (facts.isDirectory()) return 'a folder';
  return facts.isFIFO() ? 'a named pipe' : 'a device';
}

/** The size may be 0 although there is content, as in `/proc`. */
function joined(path: string, chunks: readonly Buffer[]): Buffer {
  const content = Buffer.concat(chunks);
  assertSize(path, content.length);
  return content;
}

function assertSize(path: string, bytes: number): void {
  if (bytes > LARGEST_FILE_BYTES)
    throw new UnreadableFileError(`${path} is larger than ${LARGEST_FILE_BYTES / 1024 / 1024} MiB`);
}

/** For a rejection: ignores a missing file. */
export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
