import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage, errorCode } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';

const FOLDER = 'appendonlydir';
const EVERY_MS = 1000;

interface SyncOptions {
  /** The server's `dir`. */
  readonly dir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Syncs Redis' append-only files to disk once a second, until `signal` aborts. Redis' own `appendfsync everysec` has a
 * gap: while the disk is busy syncing, for up to two seconds, acknowledged writes are only in its memory and lost if it
 * is killed: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/. With `no`, it has written
 * everything that it acknowledged, and this function limits the loss from a machine failure to a second.
 */
export async function keepSynced({ clock, dir, logger }: SyncOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (!(await pause(clock, EVERY_MS, signal))) return;
    await syncAppendOnlyFiles(dir).catch((error: unknown) =>
      logger.warn('what Redis has written cannot be put on the disk, trying again', {
        error: errorMessage(error),
      }),
    );
  }
}

async function syncAppendOnlyFiles(dir: string): Promise<void> {
  for (const name of await readdir(join(dir, FOLDER))) {
    try {
      await syncFile(join(dir, FOLDER, name));
    } catch (error) {
      // Redis has replaced it by another file.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
