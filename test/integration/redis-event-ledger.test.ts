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
  expect(await a!.nameOf('series', 'web.1')).toEqual({ name: 'web.1', isNew: true });
  expect(await b!.nameOf('series', 'web.2')).toEqual({ name: 'web.1', isNew: false });
  expect(await a!.nameOf('series', 'web.3')).toEqual({ name: 'web.1', isNew: false });
  expect(await b!.nameOf('another', 'web.4')).toEqual({ name: 'web.4', isNew: true });
  const other = new RedisEventLedger({ redis: () => redis, keyPrefix: `${keyPrefix}-2` });
  expect(await other.nameOf('series', 'web.5')).toEqual({ name: 'web.5', isNew: true });
  const keys = await redis.keys(`{${keyPrefix}*`);
  expect(keys).toHaveLength(2);
  for (const key of keys) {
    const leftMs = await redis.pttl(key);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(HOUR_MS);
  }
});

it('the replicas of one installation count similar series together, until none is added for a time', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const [a, b] = [0, 1].map(() => new RedisEventLedger({ redis: () => redis, keyPrefix }));
  expect(await a!.countSimilar('group', 'series-1', 60_000)).toBe(1);
  expect(await b!.countSimilar('group', 'series-2', 60_000)).toBe(2);
  expect(await b!.countSimilar('another', 'series-3', 60_000)).toBe(1);
  const [key = ''] = await redis.keys(`{${keyPrefix}:similar-events}:*`);
  expect(await redis.pttl(key)).toBeGreaterThan(0);
  for (const group of await redis.hkeys(key)) await redis.hset(key, group, '7 0 series');
  expect(await a!.countSimilar('group', 'series-4', 60_000)).toBe(1);
  expect(await b!.countSimilar('group', 'series-5', 60_000)).toBe(2);
});

it('a series that one replica has combined has no name of its own any more for the others', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const [a, b] = [0, 1].map(() => new RedisEventLedger({ redis: () => redis, keyPrefix }));
  await a!.nameOf('series', 'web.1');
  await a!.combine('series');
  expect(await b!.nameOf('series', 'web.2')).toBe('combined');
  expect(await a!.nameOf('series', 'web.1')).toBe('combined');
  expect(await b!.nameOf('group', 'web.3')).toEqual({ name: 'web.3', isNew: true });
});

it('the one who named a series is told so again when its command is sent twice', async () => {
  const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix: `test-${randomUUID()}` });
  await ledger.nameOf('series', 'web.1');
  expect(await ledger.nameOf('series', 'web.1')).toEqual({ name: 'web.1', isNew: true });
});

it('the ledger does not grow with the Events that ever were, and forgets no series that is in use', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix, remembered: 20 });
  for (let each = 0; each < 500; each++) {
    await ledger.nameOf(`series-${each}`, `web.${each}`);
    await ledger.countSimilar(`group-${each}`, 'series', 60_000);
    expect(await ledger.nameOf('used', `used.${each}`)).toMatchObject({ name: 'used.0' });
    expect(await ledger.countSimilar('used', `series-${each}`, 60_000)).toBe(each + 1);
  }
  const keys = await redis.keys(`{${keyPrefix}*`);
  expect(keys).toHaveLength(4);
  for (const key of keys) expect(await redis.hlen(key)).toBeLessThanOrEqual(20);
});
