import { createRedisConnection } from '../../../src/redis/connection/index.js';

/** Keeps what a key holds now. The result puts it back, or deletes the key if there was none. */
export async function savedKey(url: string, key: string): Promise<() => Promise<void>> {
  const redis = createRedisConnection({ url, connectionName: 'saved-key' });
  const before = await redis.dumpBuffer(key);
  redis.disconnect();
  return async () => {
    const again = createRedisConnection({ url, connectionName: 'saved-key' });
    await again.del(key);
    if (before) await again.restore(key, 0, before);
    again.disconnect();
  };
}
