import type { Logger } from '@rollkeeper/machinery/logging';
import { createRedisConnection, literalPattern, removeMatchingKeys } from '@rollkeeper/redis/connection';

export { redisCoordination } from '@rollkeeper/redis';

export interface RedisPlace {
  readonly redisUrl: string;
  /** Prefix of all keys. */
  readonly keyPrefix: string;
}

/** Removes every key of the place. */
export async function clearRedis({ keyPrefix, redisUrl }: RedisPlace, logger: Logger): Promise<void> {
  const redis = createRedisConnection({ url: redisUrl, connectionName: 'rollkeeper-test-cluster', logger });
  try {
    await removeMatchingKeys(redis, `*${literalPattern(keyPrefix)}*`);
  } finally {
    await redis.quit().catch(() => redis.disconnect());
  }
}
