import { createRedisConnection } from '../base/redis/index.js';
import type { Logger } from '../base/logging/index.js';
import { redisCoordination as installationOn } from '../kit/operator/redis-coordination.js';
import { noWorkQueueMetrics } from '../kit/work-queue/index.js';
import type { ControllersCoordination, CoordinationDependencies, RedisPlace } from './coordination.js';
import { DRAIN_TIMEOUT_MS } from './coordination.js';

/** The same as the replicas of an installation share. */
export function redisCoordination(
  { keyPrefix, redisUrl }: RedisPlace,
  dependencies: CoordinationDependencies,
): ControllersCoordination {
  const open = installationOn(redisUrl);
  return open({ ...dependencies, keyPrefix, metrics: noWorkQueueMetrics, drainTimeoutMs: DRAIN_TIMEOUT_MS });
}

const SCAN_COUNT = 1000;

/** Removes every key of the place. */
export async function clearRedis({ keyPrefix, redisUrl }: RedisPlace, logger: Logger): Promise<void> {
  const redis = createRedisConnection({ url: redisUrl, connectionName: 'rollkeeper-test-cluster', logger });
  // What a pattern would take for more than itself.
  const match = `*${keyPrefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
  try {
    const servers = 'nodes' in redis ? redis.nodes('master') : [redis];
    for (const server of servers) {
      let cursor = '0';
      do {
        const [next, keys] = await server.scan(cursor, 'MATCH', match, 'COUNT', SCAN_COUNT);
        cursor = next;
        for (const key of keys) await server.unlink(key);
      } while (cursor !== '0');
    }
  } finally {
    await redis.quit().catch(() => redis.disconnect());
  }
}
