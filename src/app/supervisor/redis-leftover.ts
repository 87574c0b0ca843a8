import { Redis } from 'ioredis';
import type { Clock } from '../../base/clock/index.js';
import { StartupError, errorMessage } from '../../base/errors/index.js';
import { describeRedis } from '../../base/redis/index.js';

/** How long its port takes to be free again. */
const GONE_MS = 50;

/** A server that a run which was killed may have left behind. */
export interface RedisLeftover {
  /** With the password of this data folder. */
  readonly url: string;
  readonly pid: number;
}

/**
 * Stops the server if its data folder is `dir`: ours, left over from a run that was killed.
 * @throws StartupError where a process of ours answers there that does not take the password: two servers on one data
 *   folder would spoil it
 */
export async function shutDownRedisOf(dir: string, { pid, url }: RedisLeftover, clock: Clock): Promise<void> {
  try {
    await withRedis(url, async (redis) => {
      const [, itsDir] = await redis.config('GET', 'dir');
      if (itsDir === dir) await redis.shutdown().catch(() => undefined);
    });
    await clock.sleep(GONE_MS);
  } catch (error) {
    if (/NOAUTH|WRONGPASS/.test(errorMessage(error)) && isOurProcess(pid)) {
      throw new StartupError(
        `a Redis of a former run (process ${pid}) still answers at ${describeRedis(url)} and does not take the password kept for ${dir}; end it first`,
      );
    }
    // Nobody there, or nobody of ours: nothing to stop.
  }
}

/** Whether a process with this id runs, and is this user's. */
function isOurProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 1000,
    commandTimeout: 2000,
    maxRetriesPerRequest: 0,
  });
  let cause: Error | undefined;
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
    return await use(redis);
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}
