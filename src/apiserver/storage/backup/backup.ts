import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { StartupError } from '@rollkeeper/machinery/errors';
import type { Revision, Storage, StorageRecord } from '../index.js';
import { isStorageExpired, pagesOf } from '../index.js';
import { newHeader, readBackupFile, writeBackupFile } from './backup-file.js';

/** Objects in one look at the store. */
const PAGE = 500;
/** The state that is being read leaves the watch log when too much is written meanwhile. */
const ATTEMPTS = 5;

interface BackupOptions {
  readonly clock: Clock;
  /** The version of this program, for the file. */
  readonly version: string;
}

interface BackupResult {
  readonly objects: number;
  readonly revision: Revision;
}

/**
 * Writes all objects of the store, as they were at one moment, into a file; others may write meanwhile.
 * @throws StorageUnavailableError, or StartupError when others wrote so much that the store could not keep that state to the
 * end
 */
export async function backUp(storage: Storage, path: string, options: BackupOptions): Promise<BackupResult> {
  for (let attempt = 1; ; attempt++) {
    const { resources, revision } = await storage.resources();
    const header = newHeader({
      rollkeeper: options.version,
      createdAt: toRfc3339(options.clock.now()),
      resourceVersion: String(revision),
    });
    try {
      const objects = await writeBackupFile(path, header, recordsAt(storage, resources, revision));
      return { objects, revision };
    } catch (error) {
      if (!isStorageExpired(error)) throw error;
      if (attempt < ATTEMPTS) continue;
      throw new StartupError(
        `no state of the store was kept long enough to be written, ${ATTEMPTS} times: too much is written meanwhile`,
        { cause: error },
      );
    }
  }
}

async function* recordsAt(
  storage: Storage,
  resources: readonly string[],
  revision: Revision,
): AsyncGenerator<StorageRecord> {
  for (const resource of [...resources].sort()) {
    const continueFrom = { revision, namespace: '', name: '' };
    for await (const { items } of pagesOf(storage, resource, { limit: PAGE, continueFrom }))
      for (const { object } of items) yield { key: keyOf(resource, object.metadata), object };
  }
}

function keyOf(
  resource: string,
  { name, namespace = '' }: { name: string; namespace?: string },
): StorageRecord['key'] {
  return { resource, namespace, name };
}

/** Whether the store has objects that a restore would take away. */
export async function hasObjects(storage: Storage): Promise<boolean> {
  return (await storage.resources()).resources.length > 0;
}

/**
 * Replaces all objects of the store by those of a backup, atomically. API servers may be running: their watchers have
 * to list again, and no resourceVersion goes back.
 * @throws BackupFileError when the file is not whole; then nothing is changed
 */
export async function restore(storage: Storage, path: string): Promise<BackupResult> {
  const counter = { objects: 0 };
  const counted = async function* (): AsyncGenerator<StorageRecord> {
    for await (const record of readBackupFile(path)) {
      counter.objects++;
      yield record;
    }
  };
  const revision = await storage.replaceAll(counted());
  return { ...counter, revision };
}
