import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  LARGEST_FILE_BYTES,
  UnreadableFileError,
  assertNamedFile,
  openNamedFile,
  readNamedFile,
  readNamedFileSync,
} from './named-file.js';
import { readNamedSecret, readOwnFile } from './own-files.js';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'named-file-'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('text'), 'ä: 1');
  for (const [name, bytes] of [
    ['largest', LARGEST_FILE_BYTES],
    ['larger', LARGEST_FILE_BYTES + 1],
  ] as const) {
    writeFileSync(at(name), '', { mode: 0o600 });
    truncateSync(at(name), bytes);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Every way in which a file that a user named is read as a whole. */
const READERS: readonly [string, (path: string) => Promise<unknown>][] = [
  ['readNamedFile', readNamedFile],
  ['readNamedFileSync', async (path) => readNamedFileSync(path).toString('utf8')],
  ['readNamedSecret', async (path) => readNamedSecret(path)],
  ['readOwnFile', (path) => readOwnFile(path, { isNamed: true })],
];

describe.each(READERS)('%s', (_name, read) => {
  it('returns the text of a file', async () => {
    expect(await read(at('text'))).toBe('ä: 1');
    expect(await read(at('largest'))).toHaveLength(LARGEST_FILE_BYTES);
  });

  it('refuses a named pipe and a device at once, which it could wait for or read without an end', async () => {
    await expect(read(at('pipe'))).rejects.toThrow('not a regular file');
    await expect(read('/dev/zero')).rejects.toThrow('not a regular file');
  });

  it('refuses a file that is larger than any configuration', async () => {
    await expect(read(at('larger'))).rejects.toThrow(`${at('larger')} is larger than 16 MiB`);
  });
});

it('a refusal says what the path is instead of a file', async () => {
  await expect(readNamedFile(at('pipe'))).rejects.toThrow(
    `${at('pipe')} is a named pipe, not a regular file`,
  );
  await expect(readNamedFile(folder)).rejects.toThrow(`${folder} is a folder, not a regular file`);
  await expect(readNamedFile('/dev/null')).rejects.toThrow(UnreadableFileError);
});

it('a file of any size can be opened, and a pipe cannot', async () => {
  await (await openNamedFile(at('larger'))).close();
  await expect(openNamedFile(at('pipe'))).rejects.toThrow('is a named pipe');
});

it('a file that something else opens is refused alike, and a missing one is left to it', async () => {
  await assertNamedFile(at('text'));
  await assertNamedFile(at('none'));
  await expect(assertNamedFile(at('pipe'))).rejects.toThrow('is a named pipe');
  await expect(assertNamedFile(at('larger'))).rejects.toThrow('is larger than');
});

it('a pipe that this process holds already is read until its writer closes it', async () => {
  const [reading, writing] = [openSync(at('pipe'), constants.O_RDWR), openSync(at('pipe'), constants.O_RDWR)];
  // More than a pipe holds, so that the writer is still there when the pipe is opened again.
  const text = 'x'.repeat(300_000);
  const writer = spawn('cat', { stdio: ['pipe', writing, 'inherit'] });
  const read = readNamedFile(`/dev/fd/${reading}`);
  writer.stdin!.end(text);
  writer.on('exit', () => [reading, writing].forEach((fd) => closeSync(fd)));
  expect(await read).toBe(text);
});
