import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
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
  expect(await a!.nameOf('series', 'web.1')).toEqual({ name: 'web.1', isNew: true, similar: 0 });
  expect(await b!.nameOf('series', 'web.2')).toEqual({ name: 'web.1', isNew: false, similar: 0 });
  expect(await a!.nameOf('series', 'web.3')).toEqual({ name: 'web.1', isNew: false, similar: 0 });
  expect(await b!.nameOf('another', 'web.4')).toEqual({ name: 'web.4', isNew: true, similar: 0 });
  const other = new RedisEventLedger({ redis: () => redis, keyPrefix: `${keyPrefix}-2` });
  expect(await other.nameOf('series', 'web.5')).toEqual({ name: 'web.5', isNew: true, similar: 0 });
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
  const within = (group: string) => ({ group, forgottenAfterMs: 60_000 });
  expect(await a!.nameOf('series-1', 'web.1', within('group'))).toMatchObject({ similar: 1 });
  expect(await b!.nameOf('series-2', 'web.2', within('group'))).toMatchObject({ similar: 2 });
  expect(await b!.nameOf('series-3', 'web.3', within('another'))).toMatchObject({ similar: 1 });
  expect(await a!.nameOf('series-2', 'web.4', within('group')), 'b has begun it').toMatchObject({
    similar: 0,
  });
  const [key = ''] = await redis.keys(`{${keyPrefix}:events}:similar-*`);
  expect(await redis.pttl(key)).toBeGreaterThan(0);
  for (const group of await redis.hkeys(key)) await redis.hset(key, group, '7 0 series');
  expect(await a!.nameOf('series-4', 'web.5', within('group'))).toMatchObject({ similar: 1 });
  expect(await b!.nameOf('series-5', 'web.6', within('group'))).toMatchObject({ similar: 2 });
});

it('a series that one replica has combined has no name of its own any more for the others', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const [a, b] = [0, 1].map(() => new RedisEventLedger({ redis: () => redis, keyPrefix }));
  await a!.nameOf('series', 'web.1');
  await a!.combine('series');
  expect(await b!.nameOf('series', 'web.2')).toBe('combined');
  expect(await a!.nameOf('series', 'web.1')).toBe('combined');
  expect(await b!.nameOf('group', 'web.3')).toEqual({ name: 'web.3', isNew: true, similar: 0 });
});

it('the one who named a series is told so again when its command is sent twice', async () => {
  const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix: `test-${randomUUID()}` });
  await ledger.nameOf('series', 'web.1');
  expect(await ledger.nameOf('series', 'web.1')).toEqual({ name: 'web.1', isNew: true, similar: 0 });
});

it('the ledger does not grow with the Events that ever were, and forgets no series that is in use', async () => {
  const keyPrefix = `test-${randomUUID()}`;
  const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix, remembered: 20 });
  for (let each = 0; each < 500; each++) {
    await ledger.nameOf(`alone-${each}`, `web.${each}`, { group: `group-${each}`, forgottenAfterMs: 60_000 });
    expect(await ledger.nameOf('used', `used.${each}`)).toMatchObject({ name: 'used.0' });
    const within = { group: 'used', forgottenAfterMs: 60_000 };
    expect(await ledger.nameOf(`series-${each}`, `of.${each}`, within)).toMatchObject({ similar: each + 1 });
  }
  const keys = await redis.keys(`{${keyPrefix}*`);
  expect(keys).toHaveLength(4);
  for (const key of keys) expect(await redis.hlen(key)).toBeLessThanOrEqual(20);
});

it('series that begin in one turn are named and counted by one command', async () => {
  const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix: `test-${randomUUID()}` });
  const sent = vi.spyOn(redis, 'evalsha');
  const within = { group: 'group', forgottenAfterMs: 60_000 };
  const names = ['a', 'b', 'c'].map((each) => ledger.nameOf(each, `web.${each}`, within));
  expect(await Promise.all(names)).toMatchObject([1, 2, 3].map((similar) => ({ isNew: true, similar })));
  expect(sent).toHaveBeenCalledTimes(1);
  sent.mockRestore();
});
