import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, inject, it } from 'vitest';
import { RedisSlotTable } from '../../src/redis/slots/redis-slot-table.js';
import { runSlotTableContract } from '../../src/testing/slot-table-contract.js';
import { savedKey } from './support/saved-key.js';

runSlotTableContract('RedisSlotTable', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const made: RedisSlotTable[] = [];
  return {
    table() {
      const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
      made.push(table);
      return table;
    },
    dies: async (table) => table.close(),
    saved: () => savedKey(inject('redisUrl'), `${keyPrefix}slots`),
    async stop() {
      for (const table of made) table.close();
    },
  };
});

it('a RedisSlotTable keeps its slots for ever, so that no epoch goes back', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  const redis = new Redis(inject('redisUrl'));
  await table.begin({ epoch: 1, holder: 'a' }, 4);
  expect(await redis.pttl(`${keyPrefix}slots`)).toBe(-1);
  redis.disconnect();
  table.close();
});

it('a RedisSlotTable knows replicas on a server that has not seen their connections, with the age of their reports', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  const redis = new Redis(inject('redisUrl'));
  await table.report('x', [1]);
  const key = `{${keyPrefix}slots}:members`;
  const [at, , slots] = JSON.parse((await redis.hget(key, 'x')) ?? '') as [number, string, string];
  table.close();
  const reader = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  for (const aheadMs of [-1_000_000, 1_000_000]) {
    await redis.hset(key, 'x', JSON.stringify([at + aheadMs, 'another', slots]));
    const [member] = await reader.members();
    expect(member).toMatchObject({ replica: 'x', current: [1] });
    expect(Math.sign(member!.ageMs)).toBe(-Math.sign(aheadMs));
  }
  redis.disconnect();
  reader.close();
});
