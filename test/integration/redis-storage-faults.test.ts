import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  RedisStorageOptions,
  Storage,
  StorageEvent,
  StorageKey,
  StoredObject,
} from '../../src/apiserver/storage/index.js';
import {
  RedisStorage,
  StorageConflictError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageUnavailableError,
} from '../../src/apiserver/storage/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { InvalidOptionError } from '../../src/machinery/errors/index.js';
import type { UnstructuredObject } from '../../src/machinery/kubernetes/index.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { contentOf } from '../../src/testing/storage-contract.js';
import { waitFor } from '../../src/testing/wait-for.js';

describe('RedisStorage', () => {
  let server: TestRedisServer;
  let admin: Redis;
  let keyPrefix: string;
  let stop: AbortController;
  let running: Promise<void>[];

  beforeEach(async () => {
    server = await startTestRedisServer();
    admin = new Redis(server.url);
    keyPrefix = `test-${randomUUID()}:`;
    stop = new AbortController();
    running = [];
  });

  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    admin.disconnect();
    await server.stop();
  });

  function start(options: Partial<RedisStorageOptions> = {}): Storage {
    const storage = new RedisStorage({ url: server.url, keyPrefix, commandTimeoutMs: 500, ...options });
    running.push(storage.run(stop.signal));
    return storage;
  }

  function follow(storage: Storage, after: number): { events: StorageEvent[]; end: () => unknown } {
    const events: StorageEvent[] = [];
    let end: unknown;
    void (async () => {
      for await (const together of storage.watch({ resource: 'pods', after }, stop.signal))
        events.push(...together);
    })().then(
      () => (end = 'done'),
      (error: unknown) => (end = error),
    );
    return { events, end: () => end };
  }

  /** Waits until what `writer` writes comes to `reader` by the log. */
  async function followsLog(writer: Storage, reader: Storage): Promise<void> {
    let written = 0;
    await waitFor(async () => {
      if (reader.recall(pod(`warm-${written}`))) return true;
      written++;
      await writer.create(pod(`warm-${written}`), object(`warm-${written}`));
      return false;
    });
  }

  it('shows one store to two processes, with one order of writes', async () => {
    const [one, two] = [start(), start()];
    const seen = [follow(one, await one.currentRevision()), follow(two, await two.currentRevision())];
    const created = await one.create(pod('a'), object('a'));
    const updated = await two.update(pod('a'), object('a'), created.revision);
    await expect(one.update(pod('a'), object('a'), created.revision)).rejects.toThrow(StorageConflictError);
    const removed = await one.delete(pod('a'), updated.revision);
    for (const { events } of seen) {
      await waitFor(() => events.length === 3);
      expect(events.map(({ revision }) => revision)).toEqual([
        created.revision,
        updated.revision,
        removed.revision,
      ]);
    }
  });

  it('remembers what other processes write and delete, as the log tells it', async () => {
    const [one, two] = [start(), start()];
    await followsLog(one, two);
    const seen = follow(two, await two.currentRevision());
    const created = await one.create(pod('a'), object('a'));
    await waitFor(() => seen.events.length === 1);
    expect(contentOf(two.recall(pod('a')))).toEqual(contentOf(created));
    const updated = await one.update(pod('a'), object('a'), created.revision);
    await waitFor(() => two.recall(pod('a'))?.revision === updated.revision);
    await one.delete(pod('a'), updated.revision);
    await waitFor(() => two.recall(pod('a')) === undefined);
  });

  it('lets nobody write from what it remembers wrongly, and knows better afterwards', async () => {
    const [one, deaf] = [start(), new RedisStorage({ url: server.url, keyPrefix })];
    const created = await deaf.create(pod('a'), object('a'));
    const updated = await one.update(pod('a'), object('a'), created.revision);
    expect(deaf.recall(pod('a'))?.revision).toBe(created.revision);
    await expect(deaf.update(pod('a'), object('a'), created.revision)).rejects.toThrow(StorageConflictError);
    expect(contentOf(deaf.recall(pod('a')))).toEqual(contentOf(updated));
    await one.delete(pod('a'), updated.revision);
    await expect(deaf.update(pod('a'), object('a'), updated.revision)).rejects.toThrow(StorageNotFoundError);
    expect(deaf.recall(pod('a'))).toBeUndefined();
    running.push(deaf.run(stop.signal));
  });

  it('remembers no more objects than it may', async () => {
    const storage = start({ maxKnownObjects: 3 });
    for (let i = 0; i < 10; i++) await storage.create(pod(`a${i}`), object(`a${i}`));
    const known = Array.from({ length: 10 }, (_, i) => storage.recall(pod(`a${i}`))).filter(Boolean);
    expect(known).toHaveLength(3);
  });

  it('remembers nothing when its connections broke or the data was lost', async () => {
    const storage = start();
    const seen = follow(storage, await storage.currentRevision());
    await storage.create(pod('a'), object('a'));
    await waitFor(() => seen.events.length === 1);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await waitFor(() => storage.recall(pod('a')) === undefined);
    await waitFor(() =>
      storage.get(pod('a')).then(
        (found) => found !== undefined,
        () => false,
      ),
    );
    expect(storage.recall(pod('a'))).toBeDefined();
    await admin.flushall();
    await waitFor(() => storage.recall(pod('a')) === undefined);
  });

  it('serves a watch from a revision that another process has just made', async () => {
    const [one, two] = [start(), start()];
    await two.get(pod('a'));
    for (let i = 0; i < 50; i++) {
      const { revision } = await one.create(pod(`a${i}`), object(`a${i}`));
      const seen = follow(two, revision);
      await one.create(pod(`b${i}`), object(`b${i}`));
      await waitFor(() => seen.events.length >= 1 || seen.end() !== undefined);
      expect(seen.events[0]?.revision).toBe(revision + 1);
    }
  });

  it('loses nothing by a restart of its process', async () => {
    const first = new AbortController();
    const before = new RedisStorage({ url: server.url, keyPrefix });
    const stopped = before.run(first.signal);
    const created = await before.create(pod('a'), object('a'));
    const updated = await before.update(pod('a'), object('a'), created.revision);
    first.abort();
    await stopped;
    const after = start();
    expect(contentOf(await after.get(pod('a')))).toEqual(contentOf(updated));
    const seen = follow(after, created.revision);
    await waitFor(() => seen.events.length === 1);
    expect(seen.events[0]).toMatchObject({ type: 'updated', revision: updated.revision });
  });

  it('goes on without a gap when its connections break', async () => {
    const storage = start();
    const before = await storage.currentRevision();
    const seen = follow(storage, before);
    await storage.create(pod('a'), object('a'));
    await waitFor(() => seen.events.length === 1);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    const other = start();
    for (let i = 0; i < 20; i++) await other.create(pod(`b${i}`), object(`b${i}`));
    await waitFor(() => seen.events.length === 21);
    expect(seen.events.map(({ revision }) => revision)).toEqual(range(21).map((i) => before + 1 + i));
  });

  it('ends watches as expired when the data is lost, and serves the new history', async () => {
    const storage = start();
    const seen = follow(storage, await storage.currentRevision());
    for (let i = 0; i < 5; i++) await storage.create(pod(`a${i}`), object(`a${i}`));
    await waitFor(() => seen.events.length === 5);
    await admin.flushall();
    await waitFor(() => seen.end() !== undefined);
    expect(seen.end()).toBeInstanceOf(StorageExpiredError);
    const created = await storage.create(pod('b'), object('b'));
    const anew = follow(storage, created.revision - 1);
    await waitFor(() => anew.events.length === 1);
    expect(anew.events[0]?.revision).toBe(created.revision);
    await waitFor(
      async () => (await ending(follow(storage, seen.events[2]!.revision))) instanceof StorageExpiredError,
    );
  });

  it('ends watches as expired when a lost history is overtaken by another of the same length', async () => {
    const storage = start();
    const seen = follow(storage, await storage.currentRevision());
    for (let i = 0; i < 5; i++) await storage.create(pod(`a${i}`), object(`a${i}`));
    await waitFor(() => seen.events.length === 5);
    const other = new RedisStorage({ url: server.url, keyPrefix });
    const pipeline = [admin.flushall(), ...range(8).map((i) => other.create(pod(`b${i}`), object(`b${i}`)))];
    await Promise.all(pipeline);
    await waitFor(() => seen.end() !== undefined, { what: 'the end of the watch' });
    expect(seen.end()).toBeInstanceOf(StorageExpiredError);
    const otherStop = new AbortController();
    otherStop.abort();
    await other.run(otherStop.signal);
  });

  it('fails as unavailable while Redis is away, and needs no help when it is back', async () => {
    const storage = start();
    await storage.create(pod('a'), object('a'));
    await admin.call('CLIENT', 'PAUSE', '1200', 'ALL');
    await expect(storage.get(pod('a'))).rejects.toThrow(StorageUnavailableError);
    await expect(storage.ping()).rejects.toThrow(StorageUnavailableError);
    await waitFor(async () => (await storage.get(pod('a')).catch(() => undefined)) !== undefined);
    const nobody = start({ url: 'redis://127.0.0.1:1' });
    await expect(nobody.create(pod('b'), object('b'))).rejects.toThrow(StorageUnavailableError);
  });

  it('refuses whole writes when Redis has no memory left, still deletes, and needs no help when it has', async () => {
    const storage = start();
    const kept = await storage.create(pod('a'), object('a'));
    const second = await storage.create(pod('b'), object('b'));
    const before = await storage.list('pods');
    const seen = follow(storage, before.revision);
    await admin.config('SET', 'maxmemory', '1');
    const refused = await Promise.allSettled([
      storage.create(pod('c'), object('c')),
      storage.update(pod('a'), object('a'), kept.revision),
      storage.replaceAll(
        (async function* () {
          yield { key: pod('d'), object: object('d') };
        })(),
      ),
    ]);
    for (const outcome of refused) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: expect.any(StorageUnavailableError) as Error,
      });
      expect(String((outcome as PromiseRejectedResult).reason)).toContain('Redis refuses: OOM');
    }
    expect(await storage.list('pods')).toEqual(before);
    expect(await admin.keys(`${keyPrefix}{storage}:ready:*`)).toEqual([]);
    await expect(storage.assertWritable()).rejects.toThrow('Redis refuses: OOM');
    const deleted = await storage.delete(pod('b'), second.revision);
    expect(deleted.revision).toBe(before.revision + 1);
    await admin.config('SET', 'maxmemory', '0');
    const created = await storage.create(pod('c'), object('c'));
    await waitFor(() => seen.events.length === 2);
    expect(seen.events.map(({ revision }) => revision)).toEqual([deleted.revision, created.revision]);
  });

  it('carries deletions out that came together with writes for which there is no memory', async () => {
    const storage = start();
    const stored = await Promise.all(range(3).map((i) => storage.create(pod(`a${i}`), object(`a${i}`))));
    await admin.config('SET', 'maxmemory', '1');
    const outcomes = await Promise.allSettled([
      storage.create(pod('b'), object('b')),
      storage.delete(pod('a0'), stored[0]!.revision),
      storage.update(pod('a1'), object('a1'), stored[1]!.revision),
      storage.delete(pod('a1'), stored[1]!.revision),
      storage.delete(pod('a2'), stored[0]!.revision),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect((outcomes[4] as PromiseRejectedResult).reason).toBeInstanceOf(StorageConflictError);
    expect((await storage.list('pods')).items.map(contentOf)).toEqual([contentOf(stored[2])]);
  });

  it('goes on reading while Redis cannot write to its disk, and refuses writes', async () => {
    const storage = start();
    const kept = await storage.create(pod('a'), object('a'));
    const [, dir = ''] = await admin.config('GET', 'dir');
    await rm(dir, { recursive: true });
    await admin.config('SET', 'save', '3600 1');
    await admin.bgsave();
    await waitFor(async () => (await admin.info('persistence')).includes('rdb_last_bgsave_status:err'));
    // One that has just started reads as well.
    for (const each of [storage, start()]) {
      await expect(each.ping()).resolves.toBeUndefined();
      await expect(each.assertWritable()).rejects.toThrow(/Redis refuses: .*MISCONF/);
      expect((await each.list('pods')).items.map(contentOf)).toEqual([contentOf(kept)]);
      await expect(each.create(pod('b'), object('b'))).rejects.toThrow(/Redis refuses: .*MISCONF/);
    }
    // Without anything to save it ends when it is stopped.
    await admin.config('SET', 'save', '');
    await expect(storage.create(pod('b'), object('b'))).resolves.toBeDefined();
  });

  it('can tell that Redis wants more replicas before it takes writes, without a write', async () => {
    const storage = start();
    await storage.create(pod('a'), object('a'));
    const before = await storage.currentRevision();
    await admin.config('SET', 'min-replicas-to-write', '3');
    try {
      await expect(storage.ping()).resolves.toBeUndefined();
      await expect(storage.assertWritable()).rejects.toThrow(/Redis refuses: .*NOREPLICAS/);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
    }
    await expect(storage.assertWritable()).resolves.toBeUndefined();
    expect(await storage.currentRevision()).toBe(before);
  });

  it('refuses writes while Redis is read-only, and writes once it is not', async () => {
    const storage = start();
    const created = await storage.create(pod('a'), object('a'));
    await admin.call('REPLICAOF', '127.0.0.1', '1');
    await expect(storage.update(pod('a'), object('a'), created.revision)).rejects.toThrow(
      StorageUnavailableError,
    );
    await expect(storage.assertWritable()).rejects.toThrow(StorageUnavailableError);
    await admin.call('REPLICAOF', 'NO', 'ONE');
    // A refused write may have been sent again meanwhile: its author got the answer that its outcome is unknown.
    const tryAgain = async (): Promise<StoredObject | undefined> => {
      const current = await storage.get(pod('a'));
      return current && storage.update(pod('a'), object('a'), current.revision);
    };
    const updated = await waitFor(() => tryAgain().catch(() => undefined));
    // It has become a master again, and may have had another history meanwhile.
    expect(updated.revision).toBeGreaterThan(created.revision + 2);
  });

  it('never repeats a write whose answer was lost', async () => {
    const storage = start();
    await storage.ping();
    const writes = range(200).map((i) => storage.create(pod(`a${i}`), object(`a${i}`)));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    for (const outcome of await Promise.allSettled(writes)) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StorageUnavailableError);
    }
  });

  it('lets writes leave the log by age', async () => {
    const clock = new FakeClock();
    const storage = start({ clock, maxLogAgeMs: 10_000, watchBatchMs: 0 });
    const created = await storage.create(pod('a'), object('a'));
    await storage.create(pod('b'), object('b'));
    await waitFor(async () => {
      await clock.advance(1000);
      return (await ending(follow(storage, created.revision))) instanceof StorageExpiredError;
    });
    expect(clock.monotonicNow()).toBeGreaterThanOrEqual(10_000);
  });

  it('tells together what is written within the batch time', async () => {
    const clock = new FakeClock();
    const storage = start({ clock, watchBatchMs: 50 });
    const { events } = follow(storage, await storage.currentRevision());
    await storage.create(pod('a'), object('a'));
    await waitFor(() => events.length === 1);
    // At the latest with this one it has begun to collect, and the clock stands still.
    for (const name of ['b', 'c', 'd', 'e']) await storage.create(pod(name), object(name));
    for (let look = 0; look < 20; look++) await storage.list('pods');
    expect(events.length).toBeLessThanOrEqual(2);
    await waitFor(async () => {
      await clock.advance(50);
      return events.length === 5;
    });
  });

  it('does not read back what it writes itself', async () => {
    const clock = new FakeClock();
    const storage = start({ clock, watchBatchMs: 50 });
    const { events } = follow(storage, await storage.currentRevision());
    await storage.create(pod('a'), object('a'));
    await waitFor(() => events.length === 1);
    const looks = async (): Promise<number> =>
      Number(/cmdstat_xread:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
    const before = await looks();
    for (const i of range(20)) {
      await storage.create(pod(`b${i}`), object(`b${i}`));
      await clock.advance(50);
    }
    await waitFor(() => events.length === 21);
    expect((await looks()) - before).toBeLessThanOrEqual(2);
  });

  it('tells in order what another process writes among its own writes', async () => {
    const clock = new FakeClock();
    const [one, two] = [start({ clock, watchBatchMs: 50 }), start()];
    const { events } = follow(one, await one.currentRevision());
    const written: number[] = [];
    for (const i of range(10)) {
      for (const [name, storage] of Object.entries({ one, another: one, two }))
        written.push((await storage.create(pod(`${name}${i}`), object(`${name}${i}`))).revision);
      await clock.advance(50);
    }
    await waitFor(async () => {
      await clock.advance(50);
      return events.length === written.length;
    });
    expect(events.map(({ revision }) => revision)).toEqual(written);
  });

  it('keeps the log at about its length', async () => {
    const storage = new RedisStorage({ url: server.url, keyPrefix, maxLogEntries: 100 });
    running.push(storage.run(stop.signal));
    await Promise.all(range(1000).map((i) => storage.create(pod(`p${i}`), object(`p${i}`))));
    expect(await admin.xlen(`${keyPrefix}{storage}:log`)).toBeLessThanOrEqual(200);
  });

  it('leaves other prefixes alone', async () => {
    const mine = start();
    await mine.create(pod('a'), object('a'));
    keyPrefix = `test-${randomUUID()}:`;
    expect((await start().list('pods')).items).toEqual([]);
  });

  it('names the option that is wrong', () => {
    expect(() => new RedisStorage({ url: 'http://x' })).toThrow(InvalidOptionError);
    expect(() => new RedisStorage({ url: server.url, maxLogEntries: 0 })).toThrow('storage.maxLogEntries');
  });

  async function ending(watch: { events: StorageEvent[]; end: () => unknown }): Promise<unknown> {
    await waitFor(() => watch.events.length > 0 || watch.end() !== undefined);
    return watch.end();
  }
});

function pod(name: string): StorageKey {
  return { resource: 'pods', namespace: 'default', name };
}

function object(name: string): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name } };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
