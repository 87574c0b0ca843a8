import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { RedisActorStore } from '../../src/redis/activation/redis-actor-store.js';
import { RedisEventLedger } from '../../src/redis/operator/redis-event-ledger.js';
import { RedisSlotTable } from '../../src/redis/slots/redis-slot-table.js';
import { RedisPeerRegistry } from '../../src/rollkeeper/admin/pages/redis-peer-registry.js';
import { BullMqWorkQueueConsumer, RedisActivationQueue, RedisResourceLock } from '../../src/redis/index.js';
import { LuaScript } from '../../src/redis/connection/index.js';
import { StoredScript } from '../../src/redis/connection/stored-script.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { redisWitnesses } from './support/redis-witnesses.js';

/*
 * A client sends a command again if its connection broke before the answer. Here every script is sent twice, everywhere.
 * Both must give the same answer, and the second must change nothing. The scripts of the API server's storage are
 * left out: its connection never sends a command again (`resendUnanswered: false`).
 */
const SRC = join(import.meta.dirname, '../../src');
const SCRIPTS = ['redis', 'rollkeeper'].flatMap((part) =>
  readdirSync(join(SRC, part), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua') && !/(^|\/)(dist|includes)\//.test(file))
    .map((file) => join(SRC, part, file)),
);
const nameOf = (file: string): string =>
  `${basename(join(file, '../..'))} ${basename(relative(SRC, file), '.lua').replace(/-(\d|n)$/, '')}`;

/** Fields whose value is a time of the server: a second attempt may renew it. */
const TIMES = ['until', 'renewedUs', 'seenMs', 'parkedAtMs'];
/** Keys of BullMQ that only tell what happened, or count ids. */
const NOTES = /:(events|id|answer:.*)$/;
/** Answers that name a moment, or are the same decision in other words. */
const READINGS: Readonly<Record<string, (reply: unknown) => unknown>> = {
  // The server's time is last.
  'activation acquire': (reply) => (reply as unknown[]).slice(0, 2),
  // The second attempt may find less time left.
  'work-queue read-timer': (reply) => (reply as unknown[] | null)?.slice(1) ?? null,
  // The two attempts may find other remains; either way the key is added again.
  'work-queue clear-stray': (reply) => Number(reply) > 0,
  // Whether a timer was among what a person has dropped.
  'work-queue drop-timer': () => undefined,
  // How many lines were moved: the second attempt finds none.
  'work-queue rebase-turns': () => undefined,
  // How long ago each replica was seen.
  'pages list-replicas': (reply) => (reply as unknown[]).filter((_, index) => index % 2 === 0),
  // Whether the report, or the replica, was there before.
  'slots report-member': () => undefined,
  'slots leave-slots': () => undefined,
  'slots forget-member': () => undefined,
  // The time of the server.
  'slots read-members': (reply) => (reply as unknown[]).slice(1),
  'leader-election acquire': (reply) => (reply as unknown[]).slice(0, 4),
};

describe('a command that is sent twice', () => {
  const clock = new SystemClock();
  const scripts = SCRIPTS.map((file) => ({ name: nameOf(file), script: new LuaScript(pathToFileURL(file)) }));
  const sentTwice = new Set<string>();
  const differences: string[] = [];
  let redis: Redis;
  let keyPrefix: string;

  beforeEach(() => {
    redis = new Redis(inject('redisUrl'));
    keyPrefix = randomUUID();
    differences.length = 0;
    const send: StoredScript['run'] = Reflect.get(StoredScript.prototype, 'run');
    vi.spyOn(StoredScript.prototype, 'run').mockImplementation(async function (this: StoredScript, ...sent) {
      const names = scripts
        .filter(({ script }) => this.source.includes(script.source))
        .map((each) => each.name);
      const first = await send.apply(this, sent);
      const stateOfFirst = await stateNow();
      const second = await send.apply(this, sent);
      const changed = differenceOf(stateOfFirst, await stateNow());
      for (const name of names) sentTwice.add(name);
      const read = (names.length === 1 && READINGS[names[0] ?? '']) || stable;
      if (JSON.stringify(read(first)) !== JSON.stringify(read(second)))
        differences.push(
          `${names.join(' + ')} answers ${JSON.stringify(second)} after ${JSON.stringify(first)}`,
        );
      if (changed.length > 0) differences.push(`${names.join(' + ')} changes ${changed.join('; ')}`);
      return second;
    });
  });

  afterEach(() => {
    vi.restoreAllMocks();
    redis.disconnect();
  });

  /** All of the test's keys, without times. */
  async function stateNow(): Promise<Record<string, unknown>> {
    const keys = (await redis.keys(`*${keyPrefix}*`)).filter((key) => !NOTES.test(key)).sort();
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, await contentOf(key)] as const)),
    );
  }

  async function contentOf(key: string): Promise<unknown> {
    const type = await redis.type(key);
    if (type === 'string') return redis.get(key);
    if (type === 'list') return redis.lrange(key, 0, -1);
    if (type === 'zset') return redis.zrange(key, '0', '-1', 'WITHSCORES');
    if (type !== 'hash') return type;
    const fields = Object.entries(await redis.hgetall(key)).filter(([field]) => !TIMES.includes(field));
    return Object.fromEntries(fields.map(([field, value]) => [field, withoutTimes(value)]).sort());
  }

  /** A joined step answers for each of its scripts; the times in its answers are the locks'. */
  function stable(reply: unknown): unknown {
    return JSON.parse(JSON.stringify(reply ?? null), (_key, value: unknown) =>
      typeof value === 'string' && /^\d{13}$/.test(value) ? 'a time' : value,
    ) as unknown;
  }

  function withoutTimes(text: string): string {
    // A replica's report begins with its time.
    return text.replace(/^\[\d{13},/, '[0,').replaceAll(/"(seenMs|parkedAtMs)":[\d.e+]+/g, '"$1":0');
  }

  function differenceOf(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => `${key}: ${JSON.stringify(before[key])} to ${JSON.stringify(after[key])}`);
  }

  it('changes nothing in a work queue, and takes the lock of a run once', async () => {
    const queue = new RedisActivationQueue({ name: 'test', redisUrl: inject('redisUrl'), keyPrefix, clock });
    const begun = await queue.beginTerm({ epoch: 1, holder: 'us' });
    await begun.check();
    await begun.addWithCauses('ns/a', { pods: '7' });
    await queue.add('ns/a', { priority: 'high', reason: 'user-change' });
    const { item } = await queue.takeItem('ns/a', { priority: 'low', reason: 'resync', readySinceMs: 0 });
    expect(item).toMatchObject({ priority: 'high', reason: 'user-change' });
    expect(item.early?.outcome.kind).toBe('acquired');

    expect(await queue.addRateLimited('ns/a', new Error('no'))).toMatchObject({ parked: false });
    expect(await queue.numRequeues('ns/a')).toBe(1);
    await queue.forget('ns/a');
    await queue.park('ns/a', new Error('never'), {});
    await queue.add('ns/a');

    await queue.addAfter('ns/b', 60_000);
    await queue.addAfter('ns/b', 30_000, { reason: 'requeue' });
    await queue.addAfter('ns/c', 1);
    const due = await redis.zscore(`{${keyPrefix}:queue:test}:state:timers`, 'ns/c');
    await waitFor(async () => {
      await queue.fireTimer('ns/c', String(due));
      return (await queue.inspectKey('ns/c')).waiting !== undefined;
    });
    await queue.add('ns/d', { priority: 'low' });
    await redis.hset(`{${keyPrefix}:queue:test}:state:fair`, 'v3', 2 ** 31 + 1);
    await queue.maintain();
    await queue.glance();
    await queue.wantsHelp();
    Object.assign(queue, { options: { ...queue.options, strayAfterMs: -1000 } });
    await redis.del(`{${keyPrefix}:queue:test}:test:de:ns/d`);
    await queue.sweepStray();
    await queue.purge('ns/b');
    expect(differences).toEqual([]);
    await queue.close();
  });

  it('counts a failure once, also if its caller repeats it', async () => {
    const queue = new RedisActivationQueue({ name: 'test', redisUrl: inject('redisUrl'), keyPrefix, clock });
    const failure = { failureId: randomUUID() };
    await queue.addRateLimited('ns/a', new Error('no'), failure);
    await queue.addRateLimited('ns/a', new Error('no'), failure);
    expect(await queue.numRequeues('ns/a')).toBe(1);
    await queue.addRateLimited('ns/a', new Error('no'), { failureId: randomUUID() });
    expect(await queue.numRequeues('ns/a')).toBe(2);
    await queue.close();
  });

  it('runs a key once and releases its lock once, from the add to the end', async () => {
    const queue = new RedisActivationQueue({ name: 'test', redisUrl: inject('redisUrl'), keyPrefix, clock });
    const consumer = new BullMqWorkQueueConsumer({ queue });
    const stop = new AbortController();
    const kinds: (string | undefined)[] = [];
    // Before there is a worker: an add that is sent again after its key was taken is a change during that run, and runs it once more.
    await queue.add('ns/a');
    const running = consumer.run(
      async (item) => void kinds.push(item.early?.outcome.kind),
      { concurrency: 1 },
      stop.signal,
    );
    await waitFor(() => kinds.length > 0);
    expect(kinds).toEqual(['acquired']);
    stop.abort();
    await running;
    await queue.close();
  });

  it('changes nothing in an actor: its owner has the lock, and has released it', async () => {
    const store = new RedisActorStore(redis, keyPrefix, {
      idleTtlMs: 60_000,
      intentTtlMs: 60_000,
      settledTtlMs: 60_000,
    });
    const id = { controller: 'c', key: 'ns/a' };
    await store.recordCauses(id, { pods: '7' });
    const outcome = await store.acquire(id, 'me', 60_000);
    expect(outcome).toMatchObject({ kind: 'acquired', mustHaveSeen: { pods: '7' } });
    expect((await store.acquire(id, 'other', 60_000)).kind).toBe('held');
    const proof = { token: outcome.kind === 'acquired' ? outcome.token : 0, owner: 'me' };
    expect(await store.renew(id, proof, 60_000)).toBe(true);
    expect(await store.storeIntents(id, proof, { creates: ['a'] }, { pods: '8' })).toBe(true);
    const final = {
      ownWrites: { pods: '9' },
      clearIntents: true,
      isSettled: false,
      isInterruptionSettled: true,
      unanswered: [],
      settled: [],
    };
    expect(await store.release(id, proof, final)).toBe(true);
    expect(await store.acquire(id, 'other', 0)).toMatchObject({
      kind: 'acquired',
      followsInterruption: false,
    });
    expect(await store.renew(id, proof, 60_000)).toBe(false);
    expect(await store.acquire(id, 'a third', 60_000)).toMatchObject({
      kind: 'acquired',
      followsInterruption: true,
    });
    expect(differences.filter((text) => !text.includes('"held"'))).toEqual([]);
  });

  it('acquires, renews and releases a lease once', async () => {
    const options = { url: inject('redisUrl'), keyPrefix: `${keyPrefix}:` };
    const [a, b] = ['a', 'b'].map((identity) => new RedisResourceLock({ ...options, identity }));
    if (!a || !b) throw new Error('two locks were made');
    expect((await a.tryAcquireOrRenew(60_000)).outcome).toBe('acquired');
    expect((await b.tryAcquireOrRenew(60_000)).outcome).toBe('held');
    expect((await a.tryAcquireOrRenew(60_000)).outcome).toBe('renewed');
    expect(await b.release()).toBe(false);
    expect(await a.release()).toBe(true);
    expect(await b.tryAcquireOrRenew(60_000)).toMatchObject({
      outcome: 'acquired',
      record: { leaderTransitions: 2 },
    });
    expect(differences).toEqual([]);
    a.close();
    b.close();
  });

  it('announces and sees a replica once', async () => {
    const registry = new RedisPeerRegistry({
      ...{ redisUrl: inject('redisUrl'), keyPrefix, identity: 'a', clock, logger: silentLogger },
    });
    registry.announceAs({ identity: 'a', adminUrl: 'http://127.0.0.1:1', pid: 1, startedAtMs: 0 });
    const stop = new AbortController();
    const running = registry.run(stop.signal);
    const witnesses = redisWitnesses(inject('redisUrl'), `${keyPrefix}:`);
    await waitFor(() => sentTwice.has('pages announce'));
    expect(await registry.peers()).toHaveLength(1);
    await witnesses.witness('a').look('a', 'nowhere', stop.signal);
    expect(differences).toEqual([]);
    stop.abort();
    await running;
    expect(await registry.peers()).toEqual([]);
    registry.close();
    await witnesses.stop();
  });

  it('names and counts an Event once', async () => {
    const ledger = new RedisEventLedger({ redis: () => redis, keyPrefix });
    const within = { group: 'group', forgottenAfterMs: 60_000 };
    expect(await ledger.nameOf('series', 'web.1', within)).toEqual({
      name: 'web.1',
      isNew: true,
      similar: 1,
    });
    expect(await ledger.nameOf('another', 'web.2', within)).toMatchObject({ isNew: true, similar: 2 });
    await ledger.combine('series');
    expect(await ledger.nameOf('series', 'web.1')).toBe('combined');
    expect(differences).toEqual([]);
  });

  it('assigns slots once', async () => {
    const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix: `${keyPrefix}:` });
    const leader = await table.begin({ epoch: 1, holder: 'a' }, 2);
    const assigned = await leader.assign([{ slot: 1, owner: 'a', standby: 'b' }]);
    expect(assigned[1]).toEqual({ owner: 'a', standby: 'b', epoch: 1 });
    expect(await leader.assign([{ slot: 1, owner: 'b', standby: 'a' }])).toMatchObject([
      { epoch: 0 },
      { epoch: 2 },
    ]);
    expect(differences).toEqual([]);
    table.close();
  });

  it('has a report of slots once, and a replica that has left is not there', async () => {
    const table = new RedisSlotTable({ url: inject('redisUrl'), keyPrefix: `${keyPrefix}:` });
    await table.report('a', [0, 1]);
    await table.report('b', []);
    const members = await table.members();
    expect(members).toMatchObject([
      { replica: 'a', current: [0, 1] },
      { replica: 'b', current: [] },
    ]);
    await table.forget(members[1]!);
    await table.report('b', []);
    await table.leave('b');
    expect(await table.members()).toMatchObject([{ replica: 'a', current: [0, 1] }]);
    expect(differences).toEqual([]);
    table.close();
  });

  it('was tried with every script', () => {
    expect([...sentTwice].sort()).toEqual(scripts.map(({ name }) => name).sort());
  });
});
