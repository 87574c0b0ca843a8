import { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import { StartupError, errorMessage } from '../errors/index.js';
import { assertRedisUrl } from '../redis/index.js';

const OLDEST_MAJOR = 7;
const RETRY_MS = 50;

/**
 * Waits until a Redis answers and checks that it is one we can live on: version 7 or newer, and never evicting.
 * @throws StartupError saying what is wrong with it, without the URL's password
 */
export async function assertUsableRedis(
  url: string,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<void> {
  assertRedisUrl(url, 'REDIS_URL');
  const deadlineMs = clock.monotonicNow() + timeoutMs;
  for (;;) {
    try {
      const { version, policy } = await withRedis(url, readServerFacts);
      assertFacts(url, version, policy);
      return;
    } catch (error) {
      const final =
        error instanceof StartupError || clock.monotonicNow() > deadlineMs || !isWorthRetrying(error);
      if (error instanceof StartupError) throw error;
      if (final)
        throw new StartupError(
          `Redis at ${hostOf(url)} does not answer as Redis should: ${errorMessage(error)}`,
          { cause: error },
        );
      await clock.sleep(RETRY_MS);
    }
  }
}

/** Stops the server at `url` if its data folder is `dir`: ours, left over from a run that was killed. */
export async function shutDownRedisOf(dir: string, url: string, clock: Clock): Promise<void> {
  try {
    await withRedis(url, async (redis) => {
      const [, itsDir] = await redis.config('GET', 'dir');
      if (itsDir === dir) await redis.shutdown().catch(() => undefined);
    });
    await clock.sleep(RETRY_MS);
  } catch {
    // Nobody there, or nobody of ours: nothing to stop.
  }
}

async function readServerFacts(redis: Redis): Promise<{ version: string; policy: string }> {
  const info = await redis.info();
  return {
    version: /redis_version:(\S+)/.exec(info)?.[1] ?? '',
    policy: /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'noeviction',
  };
}

function assertFacts(url: string, version: string, policy: string): void {
  if (Number.parseInt(version, 10) < OLDEST_MAJOR || version === '') {
    throw new StartupError(
      `Redis at ${hostOf(url)} is version ${version || 'unknown'}; ${OLDEST_MAJOR} or newer is needed`,
    );
  }
  if (policy !== 'noeviction') {
    throw new StartupError(
      `Redis at ${hostOf(url)} evicts keys (maxmemory-policy ${policy}); it must be noeviction, or work would be lost`,
    );
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

/** A server that loads its data, or is not listening yet, may come round; a wrong password or protocol will not. */
function isWorthRetrying(error: unknown): boolean {
  const message = errorMessage(error);
  return !/NOAUTH|WRONGPASS|Protocol error|ENOTFOUND|timed out/i.test(message);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the given URL';
}
