import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { UnreadableFileError, openNamedFile } from '@rollkeeper/machinery/files';
import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { StorageRecord } from '../index.js';

const FORMAT = 'rollkeeper-backup';
/** Grows when an older program could not read the file any more. */
const VERSION = 1;

/** Clients cannot read it. */
const NODE_PORTS = 'nodeports.internal';

/** A line of a real backup is one object, which a request has brought. Characters. */
const MAX_LINE_LENGTH = 32 * 1024 * 1024;

/** First line of a backup. The file is JSON lines, compressed by gzip: header, one line for each object, trailer. */
interface BackupHeader {
  readonly format: typeof FORMAT;
  readonly version: number;
  /** The version of the program that wrote it. */
  readonly rollkeeper: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The resourceVersion of the store: all objects are as they were at this moment. */
  readonly resourceVersion: string;
}

/** Last line: without it, the file is incomplete. */
interface BackupTrailer {
  readonly objects: number;
  /** SHA-256 of all lines before, each with its newline. */
  readonly sha256: string;
}

/** A file that is no backup, not a whole one, or of a version that cannot be read. */
export class BackupFileError extends StartupError {}

export function newHeader(
  about: Pick<BackupHeader, 'rollkeeper' | 'createdAt' | 'resourceVersion'>,
): BackupHeader {
  return { format: FORMAT, version: VERSION, ...about };
}

/**
 * Writes a backup beside `path` and puts it there once it is whole and on the disk; what was there before is kept until
 * then. Only its owner may read it. Resolves with the number of objects.
 */
export async function writeBackupFile(
  path: string,
  header: BackupHeader,
  records: AsyncIterable<StorageRecord>,
): Promise<number> {
  const temporary = `${path}.${process.pid}.tmp`;
  const counter = { objects: 0 };
  try {
    await rm(temporary, { force: true });
    await pipeline(
      Readable.from(linesOf(header, records, counter)),
      createGzip(),
      // Always a new file, so that the write does not follow an existing link.
      createWriteStream(temporary, { mode: 0o600, flags: 'wx' }),
    );
    await syncFile(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (!isOfFile(error)) throw error;
    throw new BackupFileError(`${path} cannot be written: ${errorMessage(error)}`, { cause: error });
  }
  return counter.objects;
}

/** Errors of the system, which name the call that failed. Those of the store pass. */
function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

async function* linesOf(
  header: BackupHeader,
  records: AsyncIterable<StorageRecord>,
  counter: { objects: number },
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const line = (value: object): string => {
    const text = `${stringifyJson(value)}\n`;
    hash.update(text);
    return text;
  };
  yield line(header);
  for await (const { key, object } of records) {
    counter.objects++;
    yield line({ ...key, object });
  }
  const trailer: BackupTrailer = { objects: counter.objects, sha256: hash.digest('hex') };
  yield `${stringifyJson(trailer)}\n`;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * The records of a backup. Throws at the end of an incomplete file: keep the records separate until all have been read.
 * @throws BackupFileError
 */
export async function* readBackupFile(path: string): AsyncGenerator<StorageRecord, void, undefined> {
  const hash = createHash('sha256');
  const seen = new Set<string>();
  let isHeaderRead = false;
  let trailer: Readonly<Record<string, unknown>> | undefined;
  for await (const line of readLines(path)) {
    if (trailer) throw broken(path, 'it goes on behind its end');
    const value = parseLine(path, line);
    if (!isHeaderRead) {
      assertReadable(path, value);
      isHeaderRead = true;
    } else if (isRecord(value)) {
      const { namespace, object, resource } = value;
      const key = { resource, namespace, name: nameIn(value.name, resource) };
      const problem = recordProblem({ key, object });
      if (problem !== undefined) throw broken(path, problem);
      const id = `${key.resource}\0${key.namespace}\0${key.name}`;
      if (seen.has(id)) throw broken(path, `${key.resource} ${key.namespace}/${key.name} is in it twice`);
      seen.add(id);
      yield { key, object };
    } else {
      trailer = value;
      continue;
    }
    hash.update(`${line}\n`);
  }
  if (!isHeaderRead) throw new BackupFileError(`${path} is no backup of Rollkeeper: it is empty`);
  if (!trailer) throw broken(path, 'its end is missing');
  if (trailer.objects !== seen.size || trailer.sha256 !== hash.digest('hex'))
    throw broken(path, 'its content does not fit its checksum');
}

async function* readLines(path: string): AsyncGenerator<string> {
  const file = (await openBackup(path)).createReadStream();
  const text = createGunzip();
  let failure: Error | undefined;
  // The lines end where the text does, and say nothing of why.
  const piped = pipeline(file, text).catch((error: Error) => (failure = error));
  try {
    yield* linesIn(text.setEncoding('utf8') as AsyncIterable<string>, MAX_LINE_LENGTH);
  } catch (error) {
    failure ??= error as Error;
  } finally {
    file.destroy();
    text.destroy();
    await piped;
  }
  if (failure) throw describeFailure(path, failure);
}

async function openBackup(path: string): Promise<FileHandle> {
  try {
    return await openNamedFile(path);
  } catch (error) {
    throw describeFailure(path, error as NodeJS.ErrnoException);
  }
}

function describeFailure(path: string, error: NodeJS.ErrnoException): Error {
  const { code } = error;
  if (error instanceof UnreadableFileError) return new BackupFileError(error.message);
  if (error instanceof RangeError) return broken(path, error.message);
  if (code === 'Z_BUF_ERROR') return broken(path, 'its end is missing');
  if (code === 'Z_DATA_ERROR')
    return new BackupFileError(`${path} is no backup of Rollkeeper, or it is damaged: ${error.message}`);
  return new BackupFileError(`${path} cannot be read: ${errorMessage(error)}`, { cause: error });
}

function parseLine(path: string, line: string): Record<string, unknown> {
  try {
    const value = parseJson(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw broken(path, 'a line in it is not JSON');
}

function assertReadable(path: string, header: Record<string, unknown>): void {
  if (header['format'] !== FORMAT) throw new BackupFileError(`${path} is no backup of Rollkeeper`);
  if (header['version'] === VERSION) return;
  throw new BackupFileError(
    `${path} is a backup of version ${String(header['version'])}, written by Rollkeeper ${String(header['rollkeeper'])}; this program reads version ${VERSION}`,
  );
}

/** The parts of a store's keys are separated by this, and no name has it. */
const NO_PART_OF_A_NAME = /[/\p{Cc}]/u;

/**
 * Why a record is none that a server has stored. The file may come from elsewhere, and the store keeps an object under
 * the key of its record: under another key it would be found by requests of another namespace.
 */
function recordProblem({
  key,
  object,
}: {
  readonly key: object;
  readonly object: unknown;
}): string | undefined {
  const { name, namespace, resource } = key as Readonly<Record<string, unknown>>;
  const isKey = [name, namespace, resource].every(
    (part) => typeof part === 'string' && !NO_PART_OF_A_NAME.test(part),
  );
  if (!isKey || name === '' || resource === '') return 'a record in it has no valid key';
  const { metadata } = isJsonObject(object) ? object : {};
  const isItself =
    isJsonObject(metadata) &&
    nameIn(metadata['name'] as string, resource) === name &&
    (metadata['namespace'] ?? '') === namespace;
  return isItself
    ? undefined
    : `the record of ${String(resource)} ${String(namespace)}/${String(name)} has another object`;
}

/** Reservations of ports of nodes have keys in lower case; up to 0.2.1 their objects, and so backups, had not. */
function nameIn(name: string, resource: unknown): string {
  return resource === NODE_PORTS && typeof name === 'string' ? name.toLowerCase() : name;
}

function isRecord(value: object): value is StorageRecord['key'] & Pick<StorageRecord, 'object'> {
  return 'object' in value && 'resource' in value && 'namespace' in value && 'name' in value;
}

function broken(path: string, reason: string): BackupFileError {
  return new BackupFileError(`${path} is not a whole backup: ${reason}; nothing was changed`);
}

/**
 * The lines of a text without their ends. Keeps one line at most, however much a compressed file expands to.
 * @throws RangeError for a line of more than so many characters
 */
export async function* linesIn(chunks: AsyncIterable<string>, maxLength: number): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    length += part.length;
    if (length > maxLength) throw new RangeError(`a line in it has more than ${maxLength} characters`);
    parts.push(part);
  };
  for await (const chunk of chunks) {
    const [first = '', ...others] = chunk.split('\n');
    add(first);
    for (const other of others) {
      yield parts.join('');
      parts = [];
      length = 0;
      add(other);
    }
  }
  if (length > 0) yield parts.join('');
}
