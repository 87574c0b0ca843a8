import fc from 'fast-check';
import { expect } from 'vitest';
import type {
  Revision,
  Storage,
  StorageCursor,
  StorageEvent,
  StorageKey,
  StorageListOptions,
} from '../apiserver/storage/index.js';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/**
 * A store with objects in namespaces and resources whose names share prefixes or sort around each other, and any
 * request to it.
 *
 * Invariants for any cursor, limit and revision:
 * 1. a list shows exactly the objects of its resource and namespace after its cursor, in the state of its revision, up
 *    to its limit; `remaining` counts those after the page and no others; `next` lies in the range;
 * 2. the pages of a list, each started at the cursor of the previous one, stay in the range as well;
 * 3. a watch only reports its resource and namespace, including previous states;
 * 4. `get` and `recall` find an object only under its own key.
 */
const NAMESPACES = ['', 'a', 'a-b', 'a.b', 'b', 'zz'];
const RESOURCES = ['pods', 'pods.metrics.k8s.io', 'secrets'];
const NAMES = ['a', 'b', 'zz'];
/** Namespaces of cursors: those of objects, and others that sort before, between and after them. */
const CURSOR_NAMESPACES = [...NAMESPACES, '!', 'a!', 'zzz', '\u{ffff}', '\u{1f600}'];
const CURSOR_NAMES = ['', ...NAMES, 'zzz'];

interface StorageRangesOptions {
  /** An empty store. */
  make(): Promise<Storage>;
  /** Resources that the store keeps separate. @default several */
  readonly resources?: readonly string[];
  seed: number;
  numRuns: number;
}

interface Write {
  readonly key: StorageKey;
  readonly isRemoval: boolean;
}

interface Query {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly limit: number | undefined;
  readonly maxTextLength: number | undefined;
  readonly cursor: Omit<StorageCursor, 'revision'> | undefined;
  /** Age of the state in writes. */
  readonly age: number;
}

interface Stored {
  readonly key: StorageKey;
  readonly revision: Revision;
}

/** The states of the store by revision; `undefined` for a deleted object. */
type History = readonly (Stored & { readonly isRemoval: boolean })[];

export async function runStorageRanges(options: StorageRangesOptions): Promise<void> {
  const resources = options.resources ?? RESOURCES;
  const writes = fc.array(aWrite(resources), { minLength: 10, maxLength: 60 });
  const queries = fc.array(aQuery(resources), { minLength: 20, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(writes, queries, async (toWrite, toAsk) => {
      const storage = await options.make();
      const first = await storage.currentRevision();
      const history = await writeAll(storage, toWrite);
      for (const query of toAsk) {
        const revision = Math.max(first, (history.at(-1)?.revision ?? first) - query.age);
        await checkList(storage, history, query, revision);
        await checkWatch(storage, history, query, revision);
        await checkKeys(storage, history, query);
      }
    }),
    { seed: options.seed, numRuns: options.numRuns },
  );
}

function aWrite(resources: readonly string[]): fc.Arbitrary<Write> {
  const key = fc.record({
    resource: fc.constantFrom(...resources),
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom(...NAMES),
  });
  return fc.record({ key, isRemoval: fc.integer({ min: 0, max: 4 }).map((n) => n === 0) });
}

function aQuery(resources: readonly string[]): fc.Arbitrary<Query> {
  const cursor = fc.record({
    namespace: fc.constantFrom(...CURSOR_NAMESPACES),
    name: fc.constantFrom(...CURSOR_NAMES),
  });
  return fc.record({
    resource: fc.constantFrom(...resources),
    namespace: fc.option(fc.constantFrom(...CURSOR_NAMESPACES), { nil: undefined, freq: 5 }),
    limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    maxTextLength: fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
    cursor: fc.option(cursor, { nil: undefined }),
    age: fc.integer({ min: 0, max: 20 }),
  });
}

async function writeAll(storage: Storage, writes: readonly Write[]): Promise<History> {
  const history: (Stored & { isRemoval: boolean })[] = [];
  for (const { isRemoval, key } of writes) {
    const current = await storage.get(key);
    if (!current && isRemoval) continue;
    const written = !current
      ? await storage.create(key, anObject(key))
      : isRemoval
        ? await storage.delete(key, current.revision)
        : await storage.update(key, anObject(key), current.revision);
    history.push({ key, revision: written.revision, isRemoval });
  }
  return history;
}

async function checkList(
  storage: Storage,
  history: History,
  query: Query,
  revision: Revision,
): Promise<void> {
  const { cursor, limit, maxTextLength, namespace, resource } = query;
  const options: StorageListOptions = { namespace, limit, maxTextLength };
  let continueFrom: StorageCursor | undefined = cursor && { revision, ...cursor };
  let expected = stateAt(history, cursor ? revision : Infinity)
    .filter(({ key }) => isInRange(key, query))
    .filter(({ key }) => !cursor || compareKeys(key, cursor) > 0);
  for (;;) {
    const page = await storage.list(resource, { ...options, continueFrom });
    const shown = page.items.map(storedOf);
    expect(shown).toEqual(expected.slice(0, shown.length));
    expect(shown.length).toBeLessThanOrEqual(limit ?? Infinity);
    expect(page.remaining).toBe(expected.length - shown.length);
    if (cursor) expect(page.revision).toBe(revision);
    expected = expected.slice(shown.length);
    if (!page.next) break;
    expect(page.next.revision).toBe(page.revision);
    expect(isInRange({ resource, ...page.next }, query)).toBe(true);
    continueFrom = page.next;
  }
  expect(expected).toEqual([]);
}

async function checkWatch(
  storage: Storage,
  history: History,
  query: Query,
  revision: Revision,
): Promise<void> {
  const { namespace, resource } = query;
  const expected = history.filter((write) => write.revision > revision && isInRange(write.key, query));
  const end = history.at(-1)?.revision ?? revision;
  const stop = new AbortController();
  const seen: Exclude<StorageEvent, { type: 'progress' }>[] = [];
  const options = { resource, namespace, after: revision, progressIntervalMs: 1 };
  if (expected.length === 0 || end <= revision) return;
  for await (const events of storage.watch(options, stop.signal)) {
    for (const event of events) if (event.type !== 'progress') seen.push(event);
    if (seen.length >= expected.length) break;
  }
  stop.abort();
  expect(seen.map(({ key, revision: at }) => ({ key, revision: at }))).toEqual(
    expected.map(({ key, revision: at }) => ({ key, revision: at })),
  );
  for (const event of seen) {
    const states = event.type === 'created' ? [event.object] : [event.object, event.previous];
    for (const object of states) expect(object).toMatchObject({ key: event.key });
  }
}

async function checkKeys(storage: Storage, history: History, query: Query): Promise<void> {
  const { cursor, namespace = '', resource } = query;
  const key = { resource, namespace, name: cursor?.name ?? 'a' };
  const known = stateAt(history, Infinity).find((stored) => sameKey(stored.key, key));
  const found = await storage.get(key);
  expect(found && storedOf(found)).toEqual(known);
  const recalled = storage.recall(key);
  if (recalled) expect(storedOf(recalled).key).toEqual(key);
}

/** The state at a revision, in list order. */
function stateAt(history: History, revision: Revision): Stored[] {
  const state = new Map<string, Stored>();
  for (const { isRemoval, key, revision: at } of history) {
    if (at > revision) break;
    const id = JSON.stringify([key.resource, key.namespace, key.name]);
    if (isRemoval) state.delete(id);
    else state.set(id, { key, revision: at });
  }
  return [...state.values()].sort((a, b) => compareKeys(a.key, b.key));
}

function isInRange(key: StorageKey, { namespace, resource }: Query): boolean {
  return key.resource === resource && (namespace === undefined || key.namespace === namespace);
}

function sameKey(a: StorageKey, b: StorageKey): boolean {
  return a.resource === b.resource && compareKeys(a, b) === 0;
}

/** Bytewise by namespace, then name. */
function compareKeys(
  a: Pick<StorageKey, 'namespace' | 'name'>,
  b: Pick<StorageKey, 'namespace' | 'name'>,
): number {
  const [one, other] = [a, b].map(({ name, namespace }) => Buffer.from(`${namespace}\0${name}`));
  return Buffer.compare(one!, other!);
}

function anObject(key: StorageKey): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: key.name }, key };
}

function storedOf(stored: { readonly object: object; readonly revision: Revision }): Stored {
  const { key } = stored.object as { key: StorageKey };
  return { key, revision: stored.revision };
}
