import { randomUUID } from 'node:crypto';
import type { JobsOptions } from 'bullmq';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { LuaScript, createRedisConnection } from '../../src/redis/connection/index.js';
import type { TurnKeys } from '../../src/redis/work-queue/bullmq-internals.js';
import {
  BULLMQ_LAYOUT,
  BullMqInternals,
  ObservedWorker,
  wakeUpKeysOf,
  withCopies,
} from '../../src/redis/work-queue/bullmq-internals.js';
import { waitFor } from '../../src/testing/wait-for.js';

/**
 * These are the assumptions of `bullmq-internals.ts` and its scripts, compared with what BullMQ itself leaves in
 * Redis. They fail if another release of BullMQ has changed them.
 */
describe('BullMQ, as our file on its insides knows it,', () => {
  const url = inject('redisUrl');
  const { blocking, plain } = {
    plain: () => createRedisConnection({ url, connectionName: 'test', autoPipelining: false }),
    blocking: () => createRedisConnection({ url, connectionName: 'test-worker', mode: 'blocking' }),
  };
  /** Keys that BullMQ has besides, which we neither read nor write. */
  const OTHERS = { id: 'string', meta: 'hash', events: 'stream' };
  const priority = 2;
  let prefix: string;
  let turnKeys: TurnKeys;
  let redis: ReturnType<typeof plain>;
  let internals: BullMqInternals;
  let queue: Queue;
  let worker: Worker;
  let observer: Redis;

  beforeEach(async () => {
    prefix = `{${randomUUID()}}`;
    turnKeys = { fair: `${prefix}:fair`, pending: `${prefix}:pending` };
    observer = new Redis(url);
    redis = plain();
    internals = new BullMqInternals(redis);
    await redis.ping();
    queue = new Queue('test', {
      connection: redis,
      prefix,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    await queue.waitUntilReady();
    // Takes jobs by hand: nothing happens by itself.
    worker = new Worker('test', null, { connection: blocking(), prefix, lockDuration: 60_000 });
    await worker.waitUntilReady();
  });

  afterEach(async () => {
    await Promise.all([queue.close(), worker.close()]);
    redis.disconnect();
    observer.disconnect();
  });

  const keyOf = (name: string): string => queue.toKey(name);
  const deduplicated = (key: string): JobsOptions => ({
    priority,
    deduplication: { id: key, keepLastIfActive: true },
  });
  const takeJob = async () => {
    const job = await worker.getNextJob('token', { block: false });
    if (!job) throw new Error('there is no job to take');
    return job;
  };

  /** Types by name, with `<job>` and `<key>` in the places of ids. */
  async function typesInRedis(): Promise<Record<string, string>> {
    const types: Record<string, string> = {};
    for (const key of await observer.keys(`${keyOf('')}*`)) {
      const name = key.slice(keyOf('').length).replace(/^(de|dn):.*/, '$1:<key>');
      types[name.replace(/^\d+/, '<job>')] = await observer.type(key);
    }
    return types;
  }

  it('leaves the keys and types that we know, and no others', async () => {
    const seen: Record<string, string> = {};
    const look = async (): Promise<void> => void Object.assign(seen, await typesInRedis());
    await queue.add('key', {}, deduplicated('ns/a'));
    await queue.add('timer', {}, { delay: 60_000 });
    await queue.add('timer', {}, {});
    await look();
    await takeJob();
    await takeJob();
    await queue.add('key', {}, deduplicated('ns/a'));
    await look();
    expect(seen).toEqual({ ...BULLMQ_LAYOUT, ...OTHERS });
  });

  it('keeps waiting jobs by priority and then by a counter, and their ages with them', async () => {
    const before = Date.now();
    const first = await queue.add('key', {}, { priority });
    const second = await queue.add('key', {}, { priority });
    const scores = await observer.zrange(keyOf('prioritized'), '0', '-1', 'WITHSCORES');
    const base = priority * 2 ** 32;
    expect(scores).toEqual([first.id, String(base + 1), second.id, String(base + 2)]);
    expect(await observer.get(keyOf('pc'))).toBe('2');
    const hash = await observer.hgetall(keyOf(first.id ?? ''));
    expect(hash['priority']).toBe(String(priority));
    expect(Number(hash['timestamp'])).toBeGreaterThanOrEqual(before);
  });

  it('keeps a delayed job with an id of ours in two places, so that nothing is left when we remove both', async () => {
    const before = await observer.keys(`${keyOf('')}*`);
    const { delayed, jobPrefix } = wakeUpKeysOf(prefix, 'test');
    await queue.add('timer', {}, { delay: 60_000, jobId: 'a-job' });
    const added = (await observer.keys(`${keyOf('')}*`)).filter((key) => !before.includes(key));
    const known = [delayed, `${jobPrefix}a-job`, keyOf('id'), keyOf('marker'), keyOf('events')];
    expect(added.filter((key) => !known.includes(key))).toEqual([]);
    expect(await observer.zrange(delayed, '0', '-1')).toEqual(['a-job']);
    expect(await observer.type(`${jobPrefix}a-job`)).toBe('hash');
  });

  it('tells workers by the marker that something waits', async () => {
    await queue.add('key', {}, { priority });
    expect(await observer.zrange(keyOf('marker'), '0', '-1', 'WITHSCORES')).toEqual(['0', '0']);
  });

  it('takes a job that we have moved up before newer ones of the first priority', async () => {
    const old = await queue.add('key', { key: 'a/old' }, { priority: 3 });
    await queue.add('key', { key: 'b/old' }, { priority: 2 });
    await internals.ageWaiting(queue, turnKeys, {
      beforeMs: Number.MAX_SAFE_INTEGER,
      limit: 1,
      nowMs: Date.now(),
    });
    const newer = await queue.add('key', {}, { priority: 1 });
    const taken = [await takeJob(), await takeJob(), await takeJob()].map(({ id }) => id);
    expect(taken.indexOf(old.id)).toBeLessThan(taken.indexOf(newer.id));
  });

  it('takes a job where we have put it in its turn, and gives its own successors the place of a newcomer', async () => {
    const turn = (finish: number, sequence: number): string =>
      JSON.stringify([2, 'child-change', 0, '', finish, sequence]);
    const place = async (key: string) => {
      const { args, keys, script } = internals.placingInTurn(queue, key, turnKeys);
      await script.run(redis, keys, args);
    };
    const scoreOf = (id = '') => observer.zscore(keyOf('prioritized'), id);
    await observer.hset(turnKeys.fair, 'v1', 100);
    await observer.hset(turnKeys.pending, { 'a/1': turn(900, 1), 'b/1': turn(108, 3), 'b/2': turn(108, 2) });
    const jobs: Record<string, string> = {};
    for (const key of ['a/1', 'b/1', 'b/2']) {
      const { id } = await queue.add('key', {}, { priority: 1, deduplication: { id: key } });
      jobs[id ?? ''] = key;
      await place(key);
      const score = await scoreOf(id);
      // Once it has its turn, an add moves it no further back.
      await place(key);
      expect(await scoreOf(id)).toBe(score);
    }
    expect(await observer.get(keyOf('pc'))).toBe('3');
    const taken = [await takeJob(), await takeJob(), await takeJob()].map(({ id }) => jobs[id ?? '']);
    expect(taken).toEqual(['b/2', 'b/1', 'a/1']);
  });

  it('wakes a worker by the marker that we set, where another has taken it and died', async () => {
    await queue.add('key', {}, { priority });
    await observer.del(keyOf('marker'));
    await internals.ageWaiting(queue, turnKeys, { beforeMs: 0, limit: 1, nowMs: Date.now() });
    const job = await worker.getNextJob('token', { block: true });
    expect(job?.name).toBe('key');
  });

  it('wakes a worker by the marker that we set for a delayed job once it is due', async () => {
    const nowMs = Date.now();
    await queue.add('timer', {}, { delay: 60_000, jobId: 'a-job' });
    await observer.del(keyOf('marker'));
    const aged = { beforeMs: 0, limit: 1 };
    await internals.ageWaiting(queue, turnKeys, { ...aged, nowMs });
    expect(await observer.exists(keyOf('marker'))).toBe(0);
    await internals.ageWaiting(queue, turnKeys, { ...aged, nowMs: nowMs + 61_000 });
    expect(await observer.exists(keyOf('marker'))).toBe(1);
  });

  it('remembers the job behind a key, and what follows it while it is active', async () => {
    const job = await queue.add('key', {}, deduplicated('ns/a'));
    expect(await observer.get(keyOf('de:ns/a'))).toBe(job.id);
    expect(await internals.clearStray(queue, 'ns/a')).toBeUndefined();
    const active = await takeJob();
    expect(await observer.lrange(keyOf('active'), '0', '-1')).toEqual([job.id]);
    expect(await observer.get(`${keyOf(job.id ?? '')}:lock`)).toBe('token');
    // An add is needed.
    expect(await internals.clearStray(queue, 'ns/a')).toBe('an active job without a successor');
    await queue.add('key', {}, deduplicated('ns/a'));
    expect(await internals.clearStray(queue, 'ns/a')).toBeUndefined();
    await active.moveToCompleted('done', 'token', false);
    const next = await takeJob();
    expect(next.id).not.toBe(job.id);
  });

  it('lets nothing follow an active job once we have dropped its successor', async () => {
    await queue.add('key', {}, deduplicated('ns/a'));
    const active = await takeJob();
    await queue.add('key', {}, deduplicated('ns/a'));
    await internals.dropSuccessor(queue, 'ns/a');
    await active.moveToCompleted('done', 'token', false);
    expect(await worker.getNextJob('token', { block: false })).toBeUndefined();
  });

  it('takes a key again that an outage had left behind, once we have cleared it', async () => {
    const lost = await queue.add('key', {}, deduplicated('ns/a'));
    await observer.zrem(keyOf('prioritized'), lost.id ?? '');
    expect(await internals.clearStray(queue, 'ns/a')).toBe('the deduplication key of a job in no list');
    const types = await typesInRedis();
    for (const name of ['de:<key>', 'dn:<key>', '<job>']) expect(types).not.toHaveProperty([name]);
    expect(await internals.clearStray(queue, 'ns/a')).toBe('no deduplication key');
    const again = await queue.add('key', {}, deduplicated('ns/a'));
    await observer.del(keyOf(again.id ?? ''));
    expect(await internals.clearStray(queue, 'ns/a')).toBe('the deduplication key of a job that is gone');
    const last = await queue.add('key', {}, deduplicated('ns/a'));
    expect((await takeJob()).id).toBe(last.id);
  });

  it('stores an add in one step with something else as it stores its own', async () => {
    const stored = async (id: string): Promise<Record<string, string>> => {
      const { timestamp: _, ...hash } = await observer.hgetall(keyOf(id));
      return hash;
    };
    const own = await queue.add('key', { some: 'data' }, { priority });
    const before = await typesInRedis();
    const replies = await internals.addInOneStep(queue, 'key', { some: 'data' }, { priority }, []);
    expect(replies).toEqual([]);
    const [, ours] = await observer.zrange(keyOf('prioritized'), '0', '-1');
    expect(await stored(ours ?? '')).toEqual(await stored(own.id ?? ''));
    expect(await typesInRedis()).toEqual(before);
  });

  it('renews locks by the call that we listen to, and names those that are lost', async () => {
    const told = { renewed: new Set<string>(), lost: new Set<string>() };
    const held = Promise.withResolvers<void>();
    const observed = new ObservedWorker(
      'test',
      () => held.promise,
      {
        connection: blocking(),
        prefix,
        autorun: false,
        concurrency: 2,
        lockDuration: 400,
        lockRenewTime: 100,
      },
      { renewed: (id) => void told.renewed.add(id), lost: (id) => void told.lost.add(id) },
      () => 0,
      { takesAtOnce: () => true, isWanted: async () => true, untilNextLook: async () => undefined },
    );
    const [kept, lost] = [await queue.add('key', {}), await queue.add('key', {})];
    observed.on('error', () => undefined);
    void observed.run();
    await waitFor(() => told.renewed.has(kept.id ?? '') && told.renewed.has(lost.id ?? ''), {
      what: 'both locks to be renewed',
    });
    expect(told.lost.size).toBe(0);
    await observer.set(`${keyOf(lost.id ?? '')}:lock`, 'of another worker');
    await waitFor(() => told.lost.size > 0, { what: 'the loss to be told' });
    expect([...told.lost]).toEqual([lost.id]);
    held.resolve();
    await observed.close();
  });

  it('leaves a job that the server does not let be completed, after two attempts', async () => {
    const refusal = new LuaScript({ source: "return redis.error_reply('OOM no memory')", name: 'refuse' });
    const nothing = new LuaScript({ source: 'return false', name: 'begin' });
    const undone = async (): Promise<void> => undefined;
    const end = { call: refusal.call([`${prefix}:end`]), refused: undone, alone: undone };
    const told: string[] = [];
    const left = Promise.withResolvers<void>();
    const observed = new ObservedWorker(
      'test',
      undone,
      { connection: blocking(), prefix, autorun: false },
      { renewed: () => undefined, lost: () => undefined },
      () => 0,
      { takesAtOnce: () => true, isWanted: async () => true, untilNextLook: async () => undefined },
      {
        beginning: () => ({
          call: nothing.call([`${prefix}:begin`]),
          answerKey: `${prefix}:answer:${randomUUID()}`,
          answerKeptMs: 1000,
          taken: () => undefined,
        }),
        endOf: (jobId) => {
          told.push(`end of ${jobId}`);
          return end;
        },
        ended: () => undefined,
        leave: async (jobId) => {
          told.push(`left ${jobId}`);
          left.resolve();
        },
      },
    );
    observed.on('error', () => undefined);
    await queue.add('key', {}, { jobId: 'one' });
    void observed.run();
    await left.promise;
    expect(told).toEqual(['end of one', 'end of one', 'left one']);
    expect(await observer.lrange(keyOf('active'), 0, -1)).toEqual(['one']);
    await observed.close();
  });

  it('blocks on a copy of its connection which it makes by `duplicate`', async () => {
    const connection = blocking();
    const connections = withCopies(connection);
    const blocked = new Worker('test', async () => undefined, { connection, prefix, autorun: false });
    void blocked.run();
    await waitFor(() => connections.length === 2 && connections[1]?.status === 'ready', {
      what: 'the copy to be connected',
    });
    await blocked.close();
    for (const each of connections) each.disconnect();
  });
});
