import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { RedisActorStore } from '../../src/redis/activation/redis-actor-store.js';
import { BullMqWorkQueue, BullMqWorkQueueConsumer, RedisResourceLock } from '../../src/redis/index.js';
import { MovedTime } from '../support/moved-time.js';

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

  it('may come with a smaller token once Redis has forgotten the actor, and the former token counts for nothing', async () => {
    const ttls = { idleTtlMs: HOUR_MS, intentTtlMs: HOUR_MS, settledTtlMs: HOUR_MS };
    const store = new RedisActorStore(redis, keyPrefix, ttls);
    const [id, key] = [{ controller: 'c', key: 'ns/a' }, `{${keyPrefix}:actor:c:ns/a}`];
    await store.acquire(id, 'former', LOCK_MS);
    const token = await redis.hincrby(key, 'token', HOUR_MS * 1000);
    await redis.del(key);
    const next = await store.acquire(id, 'next', LOCK_MS);
    expect(next.kind === 'acquired' && next.token).toBeLessThan(token);
    const former = { token, owner: 'former' };
    expect(await store.renew(id, former, LOCK_MS)).toBe(false);
    expect(await store.storeIntents(id, former, {}, {})).toBe(false);
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

/** Its due times are an hour too late, like the latest time that its queue has noted. */
describe('a timer whose server’s clock went back by an hour', () => {
  let redis: Redis;
  let time: MovedTime;
  let queue: BullMqWorkQueue;

  beforeEach(() => {
    const [redisUrl, keyPrefix] = [inject('redisUrl'), randomUUID()];
    redis = new Redis(redisUrl);
    time = new MovedTime(redisUrl, `*${keyPrefix}*`, 50);
    queue = new BullMqWorkQueue({ name: 'test', redisUrl, keyPrefix, clock: time.clock });
  });

  afterEach(async () => {
    await queue.close();
    redis.disconnect();
    time.close();
  });

  const stateKey = (part: string): string => `${queue.prefix}:state:${part}`;

  /** @param isOfAll whether the clocks of those who add, by which BullMQ dates its jobs, went back as well */
  async function goBack(byMs: number, isOfAll = false): Promise<void> {
    for (const key of await redis.zrange(stateKey('timers'), '0', '-1'))
      await redis.zincrby(stateKey('timers'), byMs, key);
    await redis.incrby(stateKey('clock'), byMs);
    const delayed = (await queue.bullQueue()).toKey('delayed');
    if (!isOfAll) return;
    for (const job of await redis.zrange(delayed, '0', '-1')) await redis.zincrby(delayed, byMs * 4096, job);
  }

  async function dueInMs(key: string): Promise<number> {
    return ((await queue.inspectKey(key)).delayed?.dueMs ?? NaN) - Date.now();
  }

  it.each([{ isOfAll: false }, { isOfAll: true }])(
    'fires within seconds of when it was due (of all machines: $isOfAll)',
    async ({ isOfAll }) => {
      const ran: string[] = [];
      const over = new AbortController();
      const consumer = new BullMqWorkQueueConsumer({ queue });
      const run = consumer.run(async ({ key }) => void ran.push(key), { concurrency: 1 }, over.signal);
      for (const key of ['ns/a', 'ns/b']) await queue.addAfter(key, 10_000);
      await time.until(async () => (await redis.exists(stateKey('clock'))) === 1, 5000);
      await goBack(HOUR_MS, isOfAll);
      await time.until(() => ran.length === 2, 20_000);
      expect(ran.sort()).toEqual(['ns/a', 'ns/b']);
      over.abort();
      await run;
    },
  );

  it('keeps its delay and one job that wakes for it, and is moved once, whichever replica notices', async () => {
    const other = new BullMqWorkQueue({
      ...{ name: 'test', redisUrl: inject('redisUrl'), clock: time.clock },
      keyPrefix: /^\{(.*):queue:/.exec(queue.prefix)?.[1] ?? '',
    });
    await queue.addAfter('ns/a', 2 * HOUR_MS);
    await queue.maintain();
    await goBack(HOUR_MS, true);
    await Promise.all([queue.maintain(), other.maintain()]);
    await queue.maintain();
    const dueMs = await dueInMs('ns/a');
    expect(dueMs).toBeLessThanOrEqual(2 * HOUR_MS);
    expect(dueMs).toBeGreaterThan(2 * HOUR_MS - 60_000);
    const [, score, ...more] = await redis.zrange(
      (await queue.bullQueue()).toKey('delayed'),
      '0',
      '-1',
      'WITHSCORES',
    );
    expect(more).toEqual([]);
    expect(Number(score) / 4096 - Date.now()).toBeLessThanOrEqual(2 * HOUR_MS);
    await other.close();
  });

  it('stays where it is if the clock went forward, or back by what servers differ by', async () => {
    await queue.addAfter('ns/a', 2 * HOUR_MS);
    await queue.maintain();
    for (const byMs of [-HOUR_MS, 500]) {
      await redis.incrby(stateKey('clock'), byMs);
      await queue.maintain();
      expect(await dueInMs('ns/a')).toBeGreaterThan(2 * HOUR_MS - 60_000);
    }
  });

  it('leaves no noted time behind in a queue that has no timer any more', async () => {
    await queue.addAfter('ns/a', HOUR_MS);
    await queue.maintain();
    expect(await redis.exists(stateKey('clock'))).toBe(1);
    await queue.purge('ns/a');
    await queue.maintain();
    expect(await redis.exists(stateKey('clock'))).toBe(0);
  });
});
