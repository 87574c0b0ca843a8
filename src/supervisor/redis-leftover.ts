import { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';

/** How long its port takes to be free again. */
const GONE_MS = 50;

/** Stops the server at `url` if its data folder is `dir`: ours, left over from a run that was killed. */
export async function shutDownRedisOf(dir: string, url: string, clock: Clock): Promise<void> {
  try {
    await withRedis(url, async (redis) => {
      const [, itsDir] = await redis.config('GET', 'dir');
      if (itsDir === dir) await redis.shutdown().catch(() => undefined);
    });
    await clock.sleep(GONE_MS);
  } catch {
    // Nobody there, or nobody of ours: nothing to stop.
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
