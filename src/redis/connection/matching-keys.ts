import type { RedisConnection } from './redis-connection.js';

const SCAN_COUNT = 1000;

/** `text` escaped for use in a pattern. */
export function literalPattern(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/**
 * Removes every key that matches the pattern, on all servers of a Cluster, batch by batch.
 * @param onBatch awaited after each
 */
export async function removeMatchingKeys(
  redis: RedisConnection,
  pattern: string,
  onBatch: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  for (const server of 'nodes' in redis ? redis.nodes('master') : [redis]) {
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
      cursor = next;
      for (const key of keys) await server.unlink(key);
      await onBatch();
    } while (cursor !== '0');
  }
}
