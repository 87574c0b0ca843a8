import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { RedisEventLedger } from '../../src/redis/operator/redis-event-ledger.js';

const HOUR_MS = 3_600_000;
let redis: Redis;

beforeAll(() => {
  redis = new Redis(inject('redisUrl'));
});
afterAll(() => redis.disconnect());

it('the replicas of one installation write a series under the name that was proposed first, for an hour', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const [a, b] = [0, 1].map(() => new RedisEventLedger({ redis: () => redis, keyPrefix }));
  expect(await a!.nameOf('series', 'web.1')).toBe('web.1');
  expect(await b!.nameOf('series', 'web.2')).toBe('web.1');
  expect(await a!.nameOf('series', 'web.3')).toBe('web.1');
  expect(await b!.nameOf('another', 'web.4')).toBe('web.4');
  const other = new RedisEventLedger({ redis: () => redis, keyPrefix: `${keyPrefix}-2` });
  expect(await other.nameOf('series', 'web.5')).toBe('web.5');
  const keys = await redis.keys(`${keyPrefix}*`);
  expect(keys).toHaveLength(3);
  for (const key of keys) {
    const leftMs = await redis.pttl(key);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
  }
});
