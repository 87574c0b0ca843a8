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

it('a RedisSlotTable counts a replica as alive on a server that has not seen its connection', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  const redis = new Redis(inject('redisUrl'));
  await table.report('x', [1]);
  const key = `{${keyPrefix}slots}:members`;
  const [at, , slots] = JSON.parse((await redis.hget(key, 'x')) ?? '') as [number, string, string];
  const otherServer = JSON.stringify([at, 'another', slots]);
  table.close();
  const reader = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  await redis.hset(key, 'x', otherServer);
  expect(await reader.members()).toEqual([{ replica: 'x', current: [1] }]);
  await redis.hset(key, 'x', JSON.stringify([at - 20_000, 'another', slots]));
  expect(await reader.members()).toEqual([]);
  expect(await redis.exists(key)).toBe(0);
  redis.disconnect();
  reader.close();
});

it('a RedisSlotTable counts a report of a later time than its own from now on, because the clock of a server may go back', async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix });
  const redis = new Redis(inject('redisUrl'));
  await table.report('x', [1]);
  const key = `{${keyPrefix}slots}:members`;
  const timeOf = (report: string | null): number => (JSON.parse(report ?? '') as [number])[0];
  const nowMs = timeOf(await redis.hget(key, 'x'));
  await redis.hset(key, 'dead', JSON.stringify([nowMs + 1_000_000, 'another', '2']));
  expect(await table.members()).toContainEqual({ replica: 'dead', current: [2] });
  expect(timeOf(await redis.hget(key, 'dead')) - nowMs).toBeLessThan(500_000);
  redis.disconnect();
  table.close();
});
