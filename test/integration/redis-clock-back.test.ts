import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { RedisActorStore } from '../../src/redis/activation/redis-actor-store.js';
import { BullMqWorkQueue, RedisResourceLock } from '../../src/redis/index.js';

const HOUR_MS = 3_600_000;
const LOCK_MS = 60_000;

/** If the clock of a server goes back by an hour, every end of a lock that it has stored is an hour too late. */
describe('a lock whose server’s clock went back by an hour', () => {
  let redis: Redis;
  let keyPrefix: string;

  beforeEach(() => {
    redis = new Redis(inject('redisUrl'));
    keyPrefix = randomUUID();
  });

  afterEach(() => redis.disconnect());

  it('lasts for a leader no longer than its duration from the next attempt on, although its holder is dead', async () => {
    const options = { url: inject('redisUrl'), keyPrefix: `${keyPrefix}:` };
    const [dead, other] = ['dead', 'other'].map(
      (identity) => new RedisResourceLock({ ...options, identity }),
    );
    await dead?.tryAcquireOrRenew(LOCK_MS);
    await redis.hincrby(`${keyPrefix}:lease:leader`, 'expiresUs', HOUR_MS * 1000);
    const held = await other?.tryAcquireOrRenew(LOCK_MS);
    expect(held?.outcome === 'held' && held.remainingMs).toBeLessThanOrEqual(LOCK_MS);
    const stored = Number(await redis.hget(`${keyPrefix}:lease:leader`, 'expiresUs')) / 1000;
    expect(stored - Date.now()).toBeLessThanOrEqual(LOCK_MS + 1000);
    dead?.close();
    other?.close();
  });

  it('lasts for an actor no longer than its duration from the next attempt on', async () => {
    const store = new RedisActorStore(redis, keyPrefix, {
      idleTtlMs: HOUR_MS,
      intentTtlMs: HOUR_MS,
      settledTtlMs: HOUR_MS,
    });
    const id = { controller: 'c', key: 'ns/a' };
    await store.acquire(id, 'dead', LOCK_MS);
    await redis.hincrby(`{${keyPrefix}:actor:c:ns/a}`, 'until', HOUR_MS);
    // The holder's duration counts, not that of the replica that asks.
    for (const durationMs of [LOCK_MS, 1000]) {
      const held = await store.acquire(id, 'other', durationMs);
      expect(held.kind === 'held' && held.retryAfterMs).toBeLessThanOrEqual(LOCK_MS);
      expect(held.kind === 'held' && held.retryAfterMs).toBeGreaterThan(LOCK_MS / 2);
    }
  });

  it('lasts for a job no longer than its duration from the next maintenance on', async () => {
    const queue = new BullMqWorkQueue({
      ...{ name: 'test', redisUrl: inject('redisUrl'), keyPrefix, clock: new SystemClock() },
    });
    const bull = await queue.bullQueue();
    await redis.rpush(bull.toKey('active'), 'job');
    await redis.set(`${bull.toKey('job')}:lock`, 'dead', 'PX', HOUR_MS);
    await queue.maintain();
    expect(await redis.pttl(`${bull.toKey('job')}:lock`)).toBeLessThanOrEqual(queue.options.lockDurationMs);
    await queue.close();
  });
});
