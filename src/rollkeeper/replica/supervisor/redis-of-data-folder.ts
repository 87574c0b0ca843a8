import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError } from '@rollkeeper/machinery/errors';
import { claimDataFolder, makeFolder, openOwnLog } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import { ownRedisUrl, startRedis } from './redis-process.js';
import type { RunState } from './run-state.js';
import { isAlive, readLiveRunState, readRunState, removeRunState, writeRunState } from './run-state.js';

export interface DataFolderOptions {
  readonly dataDir: string;
  /** Whether to initialize an unused folder; otherwise that is an error. */
  readonly create: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Passes `use` the URL of the Redis of a data folder: the running one, otherwise one that is started on the folder and
 * stopped again. The folder is claimed in the meantime, so that no `up` starts on the same files.
 * @throws StartupError
 */
export async function withRedisOfDataFolder<T>(
  options: DataFolderOptions,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const { clock, create, dataDir, logger } = options;
  const former = await readRunState(dataDir);
  if (former && isAlive(former.supervisorPid)) return use(await urlOfRunning(dataDir, former.redis));
  if (!create && !existsSync(join(dataDir, 'redis')))
    throw new StartupError(`nothing is kept in ${dataDir}; name another --data-dir, or a --redis-url`);
  await claimDataFolder(dataDir);
  await makeFolder(join(dataDir, 'logs'), { mode: 0o700 });
  // Until ours runs, remember one that a killed run may have left behind.
  const claim: RunState = { version: 1, supervisorPid: process.pid, redis: former?.redis, replicas: [] };
  await writeRunState(dataDir, claim);
  let noting = Promise.resolve();
  try {
    const redis = await startRedis({
      dataDir,
      logFd: openOwnLog(join(dataDir, 'logs', 'redis.log')),
      clock,
      logger,
      former: former?.redis,
      onLaunch: (running) => {
        noting = noting
          .then(() => writeRunState(dataDir, { ...claim, redis: running }))
          .catch((error: unknown) => logger.warn('could not note what runs', { error }));
      },
    });
    try {
      return await use(redis.url);
    } finally {
      await redis.stop();
    }
  } finally {
    await noting;
    await removeRunState(dataDir);
  }
}

/** The URL of the Redis that `up` has started and runs now; undefined where it runs none of its own. */
export async function runningRedisUrl(dataDir: string): Promise<string | undefined> {
  const redis = (await readLiveRunState(dataDir))?.redis;
  return redis?.pid === undefined ? undefined : ownRedisUrl(dataDir, redis.url);
}

async function urlOfRunning(dataDir: string, redis: RunState['redis']): Promise<string> {
  if (!redis) throw new StartupError(`what runs out of ${dataDir} has no Redis yet; try again`);
  // Its password is not in any file of ours.
  if (redis.pid === undefined)
    throw new StartupError(`what runs out of ${dataDir} uses ${redis.url}: name it with --redis-url`);
  return ownRedisUrl(dataDir, redis.url);
}
