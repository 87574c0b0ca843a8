import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError, errorMessage } from '../errors/index.js';
import { isShared, judgeFile, judgeFolder, judgeLink } from './decide-trust.js';
import { makeFolder } from './make-folder.js';
import { unlessMissing } from './named-file.js';
import { assertOwnFolder, assertTrusted } from './own-files.js';
import { placeOf, processOwner } from './process-owner.js';

/** Files in a data folder that the next start trusts. */
const KEPT = [
  ...['token', 'admin-token', 'redis-password', 'service-account.key', 'kubeconfig', 'run.json'],
  ...['ca.key', 'ca.crt', 'apiserver.key', 'apiserver.crt'],
];
/** Folders in it whose content must be ours as well. */
const FOLDERS = ['logs', 'redis', 'redis/appendonlydir'];

export interface DataFolder {
  /** Whether other users share it: another user owns it, or others may read it. */
  readonly isShared: boolean;
}

/**
 * Creates the folder for all data, accessible to this user only. An existing folder, and everything in it that a start
 * relies on, has to be ours.
 * @throws StartupError naming what cannot be trusted, or why the folder cannot be created
 */
export async function claimDataFolder(dataDir: string): Promise<DataFolder> {
  try {
    await makeFolder(dataDir, { mode: 0o700 });
    return await assertOwnDataFolder(dataDir);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`cannot use the data folder ${dataDir}: ${errorMessage(error)}`, { cause: error });
  }
}

/** @throws UntrustedFileError; the system's error */
export async function assertOwnDataFolder(dataDir: string): Promise<DataFolder> {
  const facts = await assertOwnFolder(dataDir);
  const inside = await Promise.all(FOLDERS.map((folder) => entriesOf(join(dataDir, folder))));
  const paths = [...KEPT, ...FOLDERS].map((name) => join(dataDir, name));
  for (const path of [...paths, ...inside.flat()]) await assertOwn(path);
  const self = processOwner();
  return { isShared: self !== undefined && isShared(facts, self) };
}

async function assertOwn(path: string): Promise<void> {
  const self = processOwner();
  const facts = await lstat(path).catch(unlessMissing);
  if (!facts || !self) return;
  const target = await realpath(path).catch(unlessMissing);
  if (facts.isSymbolicLink()) {
    assertTrusted(path, facts, judgeLink(facts, self));
    if (target !== undefined) await assertOwn(target);
  } else {
    const judge = facts.isDirectory() ? judgeFolder : judgeFile;
    assertTrusted(path, facts, judge(facts, self, placeOf(target ?? path)));
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(unlessMissing)) ?? [];
  return names.map((name) => join(folder, name));
}
