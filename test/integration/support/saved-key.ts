import { createRedisConnection } from '../../../src/redis/connection/index.js';

/**
 * Keeps the hash that a key holds now. The result puts it back, or deletes the key if there was none. DUMP and RESTORE would do it
 * for every type, but users with the rights of docs/REDIS.md may not run them.
 */
export async function savedKey(url: string, key: string): Promise<() => Promise<void>> {
  const redis = createRedisConnection({ url, connectionName: 'saved-key' });
  const before = await redis.hgetallBuffer(key);
  redis.disconnect();
  return async () => {
    const again = createRedisConnection({ url, connectionName: 'saved-key' });
    await again.del(key);
    if (Object.keys(before).length > 0) await again.hset(key, before);
    again.disconnect();
  };
}
