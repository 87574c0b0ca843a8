import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  Storage,
  StorageCursor,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageRecord,
  StoredObject,
} from '../apiserver/storage/index.js';
import {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
  StorageTooLargeError,
} from '../apiserver/storage/index.js';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { propertyRuns } from './property-runs.js';
import { runStorageRanges } from './storage-ranges.js';
import { runStorageModel } from './storage-model.js';
import { waitFor } from './wait-for.js';

export interface StorageUnderTest {
  readonly storage: Storage;
  stop(): Promise<void>;
}

interface MakeStorageOptions {
  clock: FakeClock;
  /** Length of the watch log in writes; an implementation may keep up to 100 more. */
  maxLogEntries?: number;
}

const PODS = 'pods';
const CONFIG_MAPS = 'configmaps';

/** Runs the contract of `Storage` on an implementation. Each call of `make` returns an empty, running store. */
export function runStorageContract(
  name: string,
  make: (options: MakeStorageOptions) => Promise<StorageUnderTest>,
): void {
  describe(`${name} keeps the contract of a storage`, () => {
    const runs = propertyRuns({ gate: 15, nightly: 100 });
    let clock: FakeClock;
    let made: StorageUnderTest[];
    let storage: Storage;
    let stopWatches: AbortController;

    async function makeStorage(options: Partial<MakeStorageOptions> = {}): Promise<Storage> {
      const subject = await make({ clock, ...options });
      made.push(subject);
      return subject.storage;
    }

    beforeEach(async () => {
      clock = new FakeClock();
      made = [];
      stopWatches = new AbortController();
      storage = await makeStorage();
    });

    afterEach(async () => {
      stopWatches.abort();
      for (const subject of made) await subject.stop();
    });

    function watch(
      after: number,
      options: { namespace?: string; progressIntervalMs?: number } = {},
    ): Recording {
      return record(storage.watch({ resource: PODS, after, ...options }, stopWatches.signal));
    }

    describe('create', () => {
      it('stores the object and gives it its revision as resourceVersion', async () => {
        const created = await storage.create(pod('a'), object('a', { resourceVersion: '77' }));
        expect(created.object.metadata.resourceVersion).toBe(String(created.revision));
        expect(contentOf(await storage.get(pod('a')))).toEqual(contentOf(created));
      });

      it('refuses an object that is too large and changes nothing', async () => {
        const before = await storage.currentRevision();
        const large = 'x'.repeat(1536 * 1024);
        await expect(storage.create(pod('a'), object('a', { value: large }))).rejects.toThrow(
          StorageTooLargeError,
        );
        const { revision } = await storage.create(pod('a'), object('a'));
        await expect(storage.update(pod('a'), object('a', { value: large }), revision)).rejects.toThrow(
          StorageTooLargeError,
        );
        expect(revision).toBe(before + 1);
        expect(await storage.currentRevision()).toBe(revision);
      });

      it('refuses a key that is taken and changes nothing', async () => {
        const first = await storage.create(pod('a'), object('a', { value: 1 }));
        await expect(storage.create(pod('a'), object('a', { value: 2 }))).rejects.toThrow(StorageExistsError);
        expect(contentOf(await storage.get(pod('a')))).toEqual(contentOf(first));
        expect(await storage.currentRevision()).toBe(first.revision);
      });

      it('keeps equal names in other namespaces and resources apart', async () => {
        await storage.create(pod('a', 'one'), object('a', { value: 1 }));
        await storage.create(pod('a', 'two'), object('a', { value: 2 }));
        await storage.create({ ...pod('a', 'one'), resource: CONFIG_MAPS }, object('a', { value: 3 }));
        expect(valueOf((await storage.get(pod('a', 'one')))?.object)).toBe(1);
        expect(valueOf((await storage.get(pod('a', 'two')))?.object)).toBe(2);
      });

      it('may create again what was deleted', async () => {
        const first = await storage.create(pod('a'), object('a'));
        await storage.delete(pod('a'), first.revision);
        const second = await storage.create(pod('a'), object('a'));
        expect(second.revision).toBeGreaterThan(first.revision + 1);
      });

      it('returns text as it was, whatever its letters', async () => {
        const text = 'ä – 漢字 😀 \u0000 "quoted" \\ \n';
        await storage.create(pod('a'), object('a', { value: text }));
        expect(valueOf((await storage.get(pod('a')))?.object)).toBe(text);
      });
    });

    describe('get', () => {
      it('returns integers that no double holds to the last digit, read, listed and watched', async () => {
        const value = [9007199254740993n, -(2n ** 63n)];
        const { revision } = await storage.create(pod('a'), object('a', { value }));
        const changed = { ...object('a', { value }), changed: true };
        await storage.update(pod('a'), changed, revision);
        expect(valueOf((await storage.get(pod('a')))?.object)).toEqual(value);
        expect(valueOf((await storage.list(PODS)).items[0]?.object)).toEqual(value);
        const [created, updated] = await watch(revision - 1).next(2);
        expect(valueOf(created?.object)).toEqual(value);
        expect(valueOf(updated?.object)).toEqual(value);
        expect(valueOf(updated?.type === 'updated' ? updated.previous : undefined)).toEqual(value);
      });

      it('answers undefined for what is not there', async () => {
        expect(await storage.get(pod('nobody'))).toBeUndefined();
      });
    });

    describe('recall', () => {
      it('knows nothing of what has never been', () => {
        expect(storage.recall(pod('a'))).toBeUndefined();
      });

      it('knows what was written last, and nothing of what was deleted', async () => {
        const created = await storage.create(pod('a'), object('a', { value: 1 }));
        expect(contentOf(storage.recall(pod('a')))).toEqual(contentOf(await storage.get(pod('a'))));
        const updated = await storage.update(pod('a'), object('a', { value: 2 }), created.revision);
        expect(contentOf(storage.recall(pod('a')))).toEqual(contentOf(await storage.get(pod('a'))));
        await storage.delete(pod('a'), updated.revision);
        expect(storage.recall(pod('a'))).toBeUndefined();
      });

      it('gives an object that belongs to the caller', async () => {
        await storage.create(pod('a'), object('a', { value: { deep: 1 } }));
        (valueOf(storage.recall(pod('a'))?.object) as { deep: number }).deep = 2;
        expect(valueOf(storage.recall(pod('a'))?.object)).toEqual({ deep: 1 });
      });
    });

    describe('update', () => {
      it('replaces what is at the expected revision', async () => {
        const created = await storage.create(pod('a'), object('a', { value: 1 }));
        const updated = await storage.update(pod('a'), object('a', { value: 2 }), created.revision);
        expect(updated.revision).toBe(created.revision + 1);
        expect(updated.object.metadata.resourceVersion).toBe(String(updated.revision));
        expect(contentOf(await storage.get(pod('a')))).toEqual(contentOf(updated));
      });

      it('refuses another revision, older or newer, with the current object', async () => {
        const created = await storage.create(pod('a'), object('a', { value: 1 }));
        const updated = await storage.update(pod('a'), object('a', { value: 2 }), created.revision);
        for (const wrong of [created.revision, updated.revision + 1, updated.revision * 10, 0]) {
          const error = await storage.update(pod('a'), object('a'), wrong).catch((e: unknown) => e);
          expect(error).toBeInstanceOf(StorageConflictError);
          expect(contentOf((error as StorageConflictError).current)).toEqual(contentOf(updated));
        }
        expect(await storage.currentRevision()).toBe(updated.revision);
      });

      it('refuses what is not there', async () => {
        await expect(storage.update(pod('a'), object('a'), 1)).rejects.toThrow(StorageNotFoundError);
      });

      it('lets exactly one of many writers of a revision win', async () => {
        const created = await storage.create(pod('a'), object('a', { value: -1 }));
        const outcomes = await Promise.allSettled(
          range(20).map((value) => storage.update(pod('a'), object('a', { value }), created.revision)),
        );
        const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
        expect(won).toHaveLength(1);
        expect(lost.every(({ reason }) => reason instanceof StorageConflictError)).toBe(true);
        expect(contentOf(await storage.get(pod('a')))).toEqual(contentOf(won[0]?.value));
      });

      it('loses no increment of concurrent writers that try again', async () => {
        await storage.create(pod('a'), object('a', { value: 0 }));
        await Promise.all(range(10).map(() => increment(storage, pod('a'))));
        expect(valueOf((await storage.get(pod('a')))?.object)).toBe(10);
      });
    });

    describe('delete', () => {
      it('removes, and resolves with the last state at the revision of the deletion', async () => {
        const created = await storage.create(pod('a'), object('a', { value: 1 }));
        const deleted = await storage.delete(pod('a'), created.revision);
        expect(deleted.revision).toBe(created.revision + 1);
        expect(deleted.object).toEqual({
          ...created.object,
          metadata: { ...created.object.metadata, resourceVersion: String(deleted.revision) },
        });
        expect(await storage.get(pod('a'))).toBeUndefined();
        expect((await storage.list(PODS)).items).toEqual([]);
      });

      it('refuses another revision and what is not there', async () => {
        const created = await storage.create(pod('a'), object('a'));
        await expect(storage.delete(pod('a'), created.revision - 1)).rejects.toThrow(StorageConflictError);
        await storage.delete(pod('a'), created.revision);
        await expect(storage.delete(pod('a'), created.revision)).rejects.toThrow(StorageNotFoundError);
      });
    });

    describe('revisions', () => {
      it('begin above 0, which means something else to Kubernetes', async () => {
        const revision = await storage.currentRevision();
        expect(revision).toBeGreaterThan(0);
        expect((await storage.list(PODS)).revision).toBe(revision);
      });

      it('grow by one with each write, over all resources', async () => {
        const a = await storage.create(pod('a'), object('a'));
        const b = await storage.create({ ...pod('b'), resource: CONFIG_MAPS }, object('b'));
        const c = await storage.update(pod('a'), object('a'), a.revision);
        const d = await storage.delete(pod('a'), c.revision);
        expect([b, c, d].map(({ revision }) => revision - a.revision)).toEqual([1, 2, 3]);
        expect(await storage.currentRevision()).toBe(d.revision);
      });

      it('are all different for concurrent writes', async () => {
        const created = await Promise.all(
          range(50).map((i) => storage.create(pod(`p${i}`), object(`p${i}`))),
        );
        expect(new Set(created.map(({ revision }) => revision)).size).toBe(50);
      });
    });

    describe('objects', () => {
      it('are not kept as they were handed in', async () => {
        const mine = object('a', { value: { deep: 1 } });
        await storage.create(pod('a'), mine);
        (mine.value as { deep: number }).deep = 2;
        expect(valueOf((await storage.get(pod('a')))?.object)).toEqual({ deep: 1 });
        expect(mine.metadata.resourceVersion).toBeUndefined();
      });

      it('belong to the caller once they are handed out', async () => {
        const created = await storage.create(pod('a'), object('a', { value: { deep: 1 } }));
        const spoil = (given: KubernetesObject | undefined): void => {
          (valueOf(given) as { deep: number }).deep = 2;
        };
        const [one, two] = [watch(created.revision - 1), watch(created.revision - 1)];
        spoil((await one.next(1))[0]?.object);
        spoil(created.object);
        spoil((await storage.get(pod('a')))?.object);
        spoil((await storage.list(PODS)).items[0]?.object);
        expect(valueOf((await storage.get(pod('a')))?.object)).toEqual({ deep: 1 });
        expect(valueOf((await storage.list(PODS)).items[0]?.object)).toEqual({ deep: 1 });
        expect(valueOf((await two.next(1))[0]?.object)).toEqual({ deep: 1 });
      });
    });

    describe('the JSON of an object', () => {
      it('returns what the store has, even if a caller changes the object', async () => {
        const created = await storage.create(pod('a'), object('a', { value: { deep: 1 } }));
        const read = (await storage.get(pod('a')))!;
        const listed = (await storage.list(PODS)).items[0]!;
        for (const given of [created, read, listed]) (valueOf(given.object) as { deep: number }).deep = 2;
        const metadata = { ...created.object.metadata, resourceVersion: String(created.revision) };
        for (const { json } of [created, read, listed]) {
          if (!json) throw new Error('what is stored as it is shown has a text');
          expect(parseJson(json.whole())).toEqual({ ...created.object, metadata, value: { deep: 1 } });
          expect(parseJson(json.asItem())).toEqual({ metadata, value: { deep: 1 } });
        }
      });

      it('is the same in any order of its fields', async () => {
        const { apiVersion, kind, metadata, ...rest } = object('a', { value: 1 });
        await storage.create(pod('a'), { ...rest, metadata, kind, apiVersion });
        const { json, object: read } = (await storage.get(pod('a')))!;
        expect(parseJson(json!.whole())).toEqual(read);
        expect(parseJson(json!.asItem())).toEqual({ metadata: read.metadata, value: 1 });
      });
    });

    describe('list', () => {
      const keys = [pod('b', 'two'), pod('a', 'two'), pod('z', 'one'), pod('a', 'one-more'), pod('m', '')];

      it('orders by namespace, then name, bytewise', async () => {
        for (const key of keys) await storage.create(key, object(key.name, key));
        expect(namesOf(await storage.list(PODS))).toEqual(['/m', 'one/z', 'one-more/a', 'two/a', 'two/b']);
      });

      it('holds the namespace that is asked for alone, also if another begins with its name', async () => {
        for (const key of keys) await storage.create(key, object(key.name, key));
        expect(namesOf(await storage.list(PODS, { namespace: 'one' }))).toEqual(['one/z']);
        expect(namesOf(await storage.list(PODS, { namespace: 'nobody' }))).toEqual([]);
      });

      it('holds one resource alone, and tells its revision', async () => {
        await storage.create(pod('a'), object('a'));
        const last = await storage.create({ ...pod('b'), resource: CONFIG_MAPS }, object('b'));
        const list = await storage.list(PODS);
        expect(namesOf(list)).toEqual(['default/a']);
        expect(list).toMatchObject({ revision: last.revision, remaining: 0 });
        expect(list.next).toBeUndefined();
      });

      it('comes in pages that tell how much is behind them', async () => {
        for (const i of range(5)) await storage.create(pod(`p${i}`), object(`p${i}`));
        const one = await storage.list(PODS, { limit: 2 });
        const two = await storage.list(PODS, { limit: 2, continueFrom: one.next });
        const three = await storage.list(PODS, { limit: 2, continueFrom: two.next });
        expect([one, two, three].map(namesOf)).toEqual([
          ['default/p0', 'default/p1'],
          ['default/p2', 'default/p3'],
          ['default/p4'],
        ]);
        expect([one, two, three].map(({ remaining }) => remaining)).toEqual([3, 1, 0]);
        expect(three.next).toBeUndefined();
      });

      it('ends a page early when its objects are long enough together, and goes on behind it', async () => {
        const long = 'x'.repeat(100_000);
        for (const i of range(50))
          await storage.create(pod(`p${10 + i}`), object(`p${10 + i}`, { value: long }));
        const names: string[] = [];
        let pages = 0;
        let next: StorageCursor | undefined;
        do {
          const page = await storage.list(PODS, { maxTextLength: 1000, limit: 45, continueFrom: next });
          expect(page.items.length).toBeLessThan(30);
          expect(page.remaining).toBe(50 - names.length - page.items.length);
          names.push(...namesOf(page));
          next = page.next;
          pages++;
        } while (next);
        expect(names).toEqual(range(50).map((i) => `default/p${10 + i}`));
        expect(pages).toBeGreaterThan(1);
      });

      it('ends a page without a next one when nothing is behind it', async () => {
        for (const i of range(2)) await storage.create(pod(`p${i}`), object(`p${i}`));
        expect((await storage.list(PODS, { limit: 2 })).next).toBeUndefined();
      });

      it('shows on all pages the state of the first', async () => {
        for (const i of range(6)) await storage.create(pod(`p${i}`), object(`p${i}`, { value: i }));
        const whole = await storage.list(PODS);
        const one = await storage.list(PODS, { limit: 2 });
        await storage.create(pod('p2a'), object('p2a'));
        await storage.create(pod('p9'), object('p9'));
        await change(storage, pod('p3'), 'changed');
        await change(storage, pod('p3'), 'changed again');
        await remove(storage, pod('p4'));
        await remove(storage, pod('p5'));
        await storage.create(pod('p5'), object('p5', { value: 'another' }));
        await remove(storage, pod('p0'));
        const two = await storage.list(PODS, { limit: 2, continueFrom: one.next });
        const three = await storage.list(PODS, { limit: 2, continueFrom: two.next });
        expect([...one.items, ...two.items, ...three.items]).toEqual(whole.items);
        expect([one, two, three].map(({ remaining }) => remaining)).toEqual([4, 2, 0]);
        expect([one, two, three].map(({ revision }) => revision)).toEqual(Array(3).fill(whole.revision));
      });

      it('refuses a page whose state is gone', async () => {
        for (const i of range(4)) await storage.create(pod(`p${i}`), object(`p${i}`));
        const one = await storage.list(PODS, { limit: 2 });
        await remove(storage, pod('p3'));
        await storage.compact(await storage.currentRevision());
        await expect(storage.list(PODS, { limit: 2, continueFrom: one.next })).rejects.toThrow(
          StorageExpiredError,
        );
      });

      it('refuses a page of a state that has never been', async () => {
        const continueFrom = { revision: (await storage.currentRevision()) + 1000, namespace: '', name: '' };
        await expect(storage.list(PODS, { continueFrom })).rejects.toThrow(StorageExpiredError);
      });

      it('longer than any inner page comes whole and in order', async () => {
        const names = range(1203).map((i) => `p${String(i).padStart(4, '0')}`);
        await Promise.all(names.map((each) => storage.create(pod(each), object(each))));
        const list = await storage.list(PODS);
        expect(list.items.map(({ object: { metadata } }) => metadata.name)).toEqual(names);
        const page = await storage.list(PODS, { limit: 1000 });
        expect(page.items).toHaveLength(1000);
        expect(page.remaining).toBe(203);
      });
    });

    describe('watch', () => {
      it('delivers every write after the revision, in order', async () => {
        const start = await storage.currentRevision();
        const seen = watch(start);
        const a = await storage.create(pod('a'), object('a', { value: 1 }));
        const b = await storage.update(pod('a'), object('a', { value: 2 }), a.revision);
        const c = await storage.delete(pod('a'), b.revision);
        expect(await seen.next(3)).toEqual([
          { type: 'created', key: pod('a'), revision: a.revision, object: a.object },
          { type: 'updated', key: pod('a'), revision: b.revision, object: b.object, previous: a.object },
          { type: 'deleted', key: pod('a'), revision: c.revision, object: c.object, previous: b.object },
        ]);
      });

      it('begins at any revision of the past', async () => {
        const revisions: number[] = [];
        for (const i of range(5)) {
          revisions.push((await storage.create(pod(`p${i}`), object(`p${i}`))).revision);
        }
        for (const [i, after] of revisions.entries()) {
          if (i === 4) continue;
          const events = await watch(after).next(4 - i);
          expect(events.map(({ revision }) => revision)).toEqual(revisions.slice(i + 1));
        }
      });

      it('goes on without a gap between what was and what comes, with several watchers', async () => {
        const start = await storage.currentRevision();
        const writing = Promise.all(range(200).map((i) => storage.create(pod(`p${i}`), object(`p${i}`))));
        const watchers = range(5).map(() => watch(start));
        await writing;
        for (const watcher of watchers) {
          const revisions = (await watcher.next(200)).map(({ revision }) => revision);
          expect(revisions).toEqual(range(200).map((i) => start + 1 + i));
        }
      });

      it('delivers the namespace that is asked for alone, and one resource alone', async () => {
        const seen = watch(await storage.currentRevision(), { namespace: 'one' });
        await storage.create(pod('a', 'two'), object('a'));
        await storage.create({ ...pod('a', 'one'), resource: CONFIG_MAPS }, object('a'));
        await storage.create(pod('a', 'one-more'), object('a'));
        const mine = await storage.create(pod('a', 'one'), object('a'));
        expect((await seen.next(1)).map(({ revision }) => revision)).toEqual([mine.revision]);
      });

      it('ends without an error when it is aborted, before and while it waits', async () => {
        const stop = new AbortController();
        const after = await storage.currentRevision();
        const waiting = record(storage.watch({ resource: PODS, after }, stop.signal));
        await storage.create(pod('a'), object('a'));
        await waiting.next(1);
        stop.abort();
        expect(await waiting.end()).toBeUndefined();
        expect(await record(storage.watch({ resource: PODS, after }, stop.signal)).end()).toBeUndefined();
      });

      it('is refused at once from a compacted revision', async () => {
        const a = await storage.create(pod('a'), object('a'));
        const b = await storage.create(pod('b'), object('b'));
        await storage.compact(b.revision);
        expect(await watch(a.revision).end()).toBeInstanceOf(StorageExpiredError);
        const present = watch(b.revision);
        const c = await storage.create(pod('c'), object('c'));
        expect((await present.next(1))[0]?.revision).toBe(c.revision);
      });

      it('from the last kept revision is served after a compaction', async () => {
        const a = await storage.create(pod('a'), object('a'));
        const b = await storage.create(pod('b'), object('b'));
        await storage.compact(a.revision);
        expect((await watch(a.revision).next(1))[0]?.revision).toBe(b.revision);
      });

      it('is refused at once from a revision that has never been', async () => {
        expect(await watch((await storage.currentRevision()) + 1000).end()).toBeInstanceOf(
          StorageExpiredError,
        );
      });

      it('tells its progress, also when nothing happens to its resource', async () => {
        const seen = watch(await storage.currentRevision(), { progressIntervalMs: 1000 });
        const other = await storage.create({ ...pod('a'), resource: CONFIG_MAPS }, object('a'));
        const event = await waitFor(async () => {
          await clock.advance(1000);
          return seen.events.find(({ revision }) => revision === other.revision);
        });
        expect(event).toEqual({ type: 'progress', revision: other.revision });
      });

      it('reports no progress that was not requested', async () => {
        const seen = watch(await storage.currentRevision());
        await clock.advance(3_600_000);
        await storage.create(pod('a'), object('a'));
        expect((await seen.next(1))[0]?.type).toBe('created');
      });

      it('never tells progress before the events that it covers', async () => {
        const seen = watch(await storage.currentRevision(), { progressIntervalMs: 1 });
        for (const i of range(20)) {
          await storage.create(pod(`p${i}`), object(`p${i}`));
          await clock.advance(1);
        }
        await seen.until((event) => event.type === 'created' && event.key.name === 'p19');
        let last = 0;
        for (const event of seen.events) {
          if (event.type === 'progress') expect(event.revision).toBeGreaterThanOrEqual(last);
          else expect(event.revision).toBeGreaterThan(last);
          last = event.revision;
        }
      });

      it('ends a reader that is too slow for the log as expired', async () => {
        storage = await makeStorage({ maxLogEntries: 50 });
        const after = await storage.currentRevision();
        const slow = storage.watch({ resource: PODS, after }, stopWatches.signal)[Symbol.asyncIterator]();
        await storage.create(pod('a'), object('a'));
        expect((await slow.next()).value).toMatchObject([{ type: 'created' }]);
        for (const i of range(10)) {
          await Promise.all(range(50).map((j) => storage.create(pod(`p${i}-${j}`), object('p'))));
        }
        await expect(drain(slow)).rejects.toThrow(StorageExpiredError);
      });
    });

    describe('compact', () => {
      it('refuses a revision that is not reached', async () => {
        await expect(storage.compact((await storage.currentRevision()) + 1)).rejects.toThrow('revision');
      });

      it('may be repeated, and leaves the objects alone', async () => {
        const a = await storage.create(pod('a'), object('a'));
        await storage.compact(a.revision);
        await storage.compact(a.revision);
        await storage.compact(a.revision - 1);
        expect(contentOf(await storage.get(pod('a')))).toEqual(contentOf(a));
        expect(namesOf(await storage.list(PODS))).toEqual(['default/a']);
      });
    });

    describe('resources', () => {
      it('names those that have objects, and the revision at which that is so', async () => {
        expect((await storage.resources()).resources).toEqual([]);
        const a = await storage.create(pod('a'), object('a'));
        const b = await storage.create({ ...pod('b', ''), resource: CONFIG_MAPS }, object('b'));
        const both = await storage.resources();
        expect([...both.resources].sort()).toEqual([CONFIG_MAPS, PODS]);
        expect(both.revision).toBe(b.revision);
        const gone = await storage.delete(pod('a'), a.revision);
        expect(await storage.resources()).toEqual({ resources: [CONFIG_MAPS], revision: gone.revision });
      });
    });

    describe('replaceAll', () => {
      it('leaves what it was given and nothing else, each at a revision beyond all before', async () => {
        const a = await storage.create(pod('a'), object('a', { value: 1 }));
        await storage.create({ ...pod('b', ''), resource: CONFIG_MAPS }, object('b'));
        const value = [9007199254740993n, 'ä 漢 😀 \u0000'];
        const records = [
          { key: pod('a'), object: object('a', { value, resourceVersion: '7' }) },
          { key: pod('z', ''), object: object('z') },
          { key: { ...pod('c'), resource: 'secrets' }, object: object('c') },
        ];
        const revision = await storage.replaceAll(from(records));
        expect(await storage.currentRevision()).toBe(revision);
        expect([...(await storage.resources()).resources].sort()).toEqual([PODS, 'secrets']);
        const list = await storage.list(PODS);
        expect(list).toMatchObject({ revision, remaining: 0 });
        expect(list.items.map((item) => item.object.metadata.name)).toEqual(['z', 'a']);
        expect(valueOf(list.items[1]?.object)).toEqual(value);
        const revisions = [...list.items, await storage.get({ ...pod('c'), resource: 'secrets' })];
        for (const item of revisions) {
          expect(item!.revision).toBeGreaterThan(a.revision + 1);
          expect(item!.revision).toBeLessThan(revision);
          expect(item!.object.metadata.resourceVersion).toBe(String(item!.revision));
        }
        expect(new Set(revisions.map((item) => item?.revision)).size).toBe(3);
        await expect(storage.update(pod('a'), object('a'), a.revision)).rejects.toThrow(StorageConflictError);
      });

      it('empties the store with nothing, and its revisions go on', async () => {
        const a = await storage.create(pod('a'), object('a'));
        const revision = await storage.replaceAll(from([]));
        expect(revision).toBeGreaterThan(a.revision);
        expect((await storage.list(PODS)).items).toEqual([]);
        expect((await storage.create(pod('a'), object('a'))).revision).toBe(revision + 1);
      });

      it('ends what was watched or paged before, from whichever revision, and serves what comes after', async () => {
        const before = await storage.currentRevision();
        const seen = watch(before);
        for (const i of range(4)) await storage.create(pod(`p${i}`), object(`p${i}`));
        await seen.next(4);
        const last = await storage.currentRevision();
        const page = await storage.list(PODS, { limit: 2 });
        const revision = await storage.replaceAll(from([{ key: pod('a'), object: object('a') }]));
        expect(await seen.end()).toBeInstanceOf(StorageExpiredError);
        const restored = (await storage.get(pod('a')))!.revision;
        for (const after of [before, last, last + 1, restored, revision - 1])
          expect(await watch(after).end()).toBeInstanceOf(StorageExpiredError);
        await expect(storage.list(PODS, { limit: 2, continueFrom: page.next })).rejects.toThrow(
          StorageExpiredError,
        );
        const anew = watch(revision);
        const next = await storage.create(pod('b'), object('b'));
        expect((await anew.next(1))[0]?.revision).toBe(next.revision);
      });

      it('changes nothing when what it is given fails in the middle', async () => {
        for (const i of range(3)) await storage.create(pod(`p${i}`), object(`p${i}`));
        const before = await storage.list(PODS);
        const seen = watch(before.revision);
        const broken = async function* (): AsyncGenerator<StorageRecord> {
          for (const i of range(500)) yield { key: pod(`q${i}`), object: object(`q${i}`) };
          throw new Error('the disk is gone');
        };
        await expect(storage.replaceAll(broken())).rejects.toThrow('the disk is gone');
        expect(await storage.list(PODS)).toEqual(before);
        const next = await storage.create(pod('b'), object('b'));
        expect((await seen.next(1))[0]?.revision).toBe(next.revision);
      });

      it('happens at once for those who write and read meanwhile', async () => {
        const records = range(300).map((i) => ({ key: pod(`r${i}`), object: object(`r${i}`) }));
        await storage.create(pod('w'), object('w'));
        const writing = range(200).map((i) => storage.create(pod(`w${i}`), object(`w${i}`)));
        const replacing = storage.replaceAll(from(records));
        const lists = range(50).map(() => storage.list(PODS));
        const revision = await replacing;
        await Promise.all(writing);
        for (const list of await Promise.all(lists)) {
          const restored = namesOf(list).filter((name) => name.startsWith('default/r'));
          expect([0, 300]).toContain(restored.length);
          expect(namesOf(list).includes('default/w')).toBe(restored.length === 0);
        }
        const { items } = await storage.list(PODS);
        expect(new Set(items.map((item) => item.revision)).size).toBe(items.length);
        for (const item of items.filter(({ object: { metadata } }) => metadata.name.startsWith('w')))
          expect(item.revision).toBeGreaterThan(revision);
      });
    });

    it('runs once', async () => {
      await expect(storage.run(stopWatches.signal)).rejects.toThrow(IllegalStateError);
    });

    it('answers a ping, and takes writes', async () => {
      await expect(storage.ping()).resolves.toBeUndefined();
      await expect(storage.assertWritable()).resolves.toBeUndefined();
    });

    it('has one secret, which no other store has', async () => {
      const secret = await storage.secret();
      expect(secret).toHaveLength(32);
      expect(await storage.secret()).toEqual(secret);
      expect(await (await makeStorage()).secret()).not.toEqual(secret);
      await storage.replaceAll(from([]));
      expect(await storage.secret()).toEqual(secret);
    });

    it(`shows nothing outside the range that was asked for (SEED=${runs.seed})`, async () => {
      await runStorageRanges({ make: () => makeStorage(), ...runs });
    });

    it(`behaves like a map with a counter, and list plus watch gives every state (SEED=${runs.seed})`, async () => {
      await runStorageModel({ make: () => makeStorage(), ...runs });
    });
  });
}

function pod(name: string, namespace = 'default'): StorageKey {
  return { resource: PODS, namespace, name };
}

function object(
  name: string,
  extra: { value?: unknown; resourceVersion?: string; namespace?: string } = {},
): UnstructuredObject {
  const { value, resourceVersion, namespace = 'default' } = extra;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(value === undefined ? {} : { value }),
  };
}

/** A state with its revision, reduced to data. */
export function contentOf(stored: StoredObject | undefined) {
  return stored && { object: stored.object, revision: stored.revision };
}

function valueOf(given: KubernetesObject | undefined): unknown {
  return (given as UnstructuredObject | undefined)?.value;
}

function namesOf(list: StorageList): string[] {
  return list.items.map(({ object: { metadata } }) => `${metadata.namespace ?? ''}/${metadata.name}`);
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

async function increment(storage: Storage, key: StorageKey): Promise<void> {
  for (;;) {
    const current = await storage.get(key);
    if (!current) throw new Error('gone');
    const value = (valueOf(current.object) as number) + 1;
    try {
      await storage.update(key, object(key.name, { value }), current.revision);
      return;
    } catch (error) {
      if (!(error instanceof StorageConflictError)) throw error;
    }
  }
}

async function change(storage: Storage, key: StorageKey, value: unknown): Promise<void> {
  const revision = (await storage.get(key))?.revision ?? 0;
  await storage.update(key, object(key.name, { value }), revision);
}

async function remove(storage: Storage, key: StorageKey): Promise<void> {
  await storage.delete(key, (await storage.get(key))?.revision ?? 0);
}

async function* from(records: readonly StorageRecord[]): AsyncGenerator<StorageRecord> {
  yield* records;
}

async function drain(iterator: AsyncIterator<unknown>): Promise<void> {
  while (!(await iterator.next()).done);
}

type ObjectEvent = Exclude<StorageEvent, { type: 'progress' }>;

interface Recording {
  readonly events: StorageEvent[];
  /** The next `count` object events. */
  next(count: number): Promise<ObjectEvent[]>;
  until(condition: (event: StorageEvent) => boolean): Promise<void>;
  /** How the watch ended: `undefined`, or its error. */
  end(): Promise<unknown>;
}

function record(source: AsyncIterable<readonly StorageEvent[]>): Recording {
  const events: StorageEvent[] = [];
  let ended = false;
  const ending = (async () => {
    for await (const together of source) events.push(...together);
  })().then(
    () => undefined,
    (error: unknown) => error,
  );
  void ending.then(() => (ended = true));
  const objects = (): ObjectEvent[] => events.filter((event) => event.type !== 'progress');
  return {
    events,
    async next(count) {
      await waitFor(() => objects().length >= count || ended, { what: `${count} events` });
      return objects().slice(0, count);
    },
    async until(condition) {
      await waitFor(() => events.some(condition) || ended, { what: 'an event' });
    },
    end: () => ending,
  };
}
