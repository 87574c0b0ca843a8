import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';

const FOLDER = 'appendonlydir';
const EVERY_MS = 1000;

export interface SyncOptions {
  /** The server's `dir`. */
  readonly dir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Has what Redis wrote to its append-only files put on the disk once a second, until `signal` aborts. Redis itself does so with
 * `appendfsync everysec`, but while the disk is busy with it, for up to two seconds, what it answers is in its memory alone and
 * gone if it is killed: https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/. With `no` it has
 * written whatever it answers, and this keeps what a failure of the machine may cost at a second.
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
      // Redis has put another in its place.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
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
