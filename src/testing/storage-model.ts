import fc from 'fast-check';
import { expect } from 'vitest';
import type { Revision, Storage, StorageKey } from '../apiserver/storage/index.js';
import { isStorageConflict, isStorageExists, isStorageNotFound } from '../apiserver/storage/index.js';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/**
 * The model: a map from key to revision and value, and a counter.
 *
 * Invariants after any sequence of operations:
 * 1. each operation succeeds or fails as on the map, and returns the counter's revision;
 * 2. lists show the map; the pages of a list show the map as of its first page, regardless of writes in between;
 * 3. the state at any list plus the events of a watch from its revision gives the state at the end.
 */
type Command =
  | { readonly op: 'create' | 'delete'; readonly key: StorageKey; readonly stale: boolean }
  | { readonly op: 'update'; readonly key: StorageKey; readonly stale: boolean }
  | { readonly op: 'list'; readonly namespace: string | undefined }
  | { readonly op: 'firstPage'; readonly namespace: string | undefined; readonly limit: number }
  | { readonly op: 'watch'; readonly namespace: string | undefined };

const RESOURCES = ['pods', 'replicasets.apps'];
const NAMESPACES = ['a', 'a-b', ''];

interface Entry {
  readonly revision: Revision;
  readonly value: number;
}

type State = ReadonlyMap<string, Entry>;

interface StorageModelOptions {
  /** An empty store. */
  make(): Promise<Storage>;
  seed: number;
  numRuns: number;
}

export async function runStorageModel(options: StorageModelOptions): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(aCommand(), { minLength: 1, maxLength: 60 }), async (commands) => {
      const storage = await options.make();
      const run = new ModelRun(storage, await storage.currentRevision());
      for (const command of commands) await run.apply(command);
      await run.finish();
    }),
    { seed: options.seed, numRuns: options.numRuns },
  );
}

function aCommand(): fc.Arbitrary<Command> {
  const key = fc.record({
    resource: fc.constantFrom(...RESOURCES),
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom('x', 'x-1', 'y', 'z'),
  });
  const namespace = fc.constantFrom(undefined, ...NAMESPACES);
  const stale = fc.integer({ min: 0, max: 5 }).map((n) => n === 0);
  return fc.oneof(
    { weight: 5, arbitrary: fc.record({ op: fc.constant('create' as const), key, stale }) },
    { weight: 5, arbitrary: fc.record({ op: fc.constant('update' as const), key, stale }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constant('delete' as const), key, stale }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('list' as const), namespace }) },
    {
      weight: 2,
      arbitrary: fc.record({
        op: fc.constant('firstPage' as const),
        namespace,
        limit: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('watch' as const), namespace }) },
  );
}

class ModelRun {
  private readonly state = new Map<string, Entry & { readonly key: StorageKey }>();
  private value = 0;
  private readonly lastWrites = new Map<string, Revision>();
  private readonly later: (() => Promise<void>)[] = [];

  constructor(
    private readonly storage: Storage,
    private revision: Revision,
  ) {}

  async apply(command: Command): Promise<void> {
    switch (command.op) {
      case 'create':
        return this.create(command.key);
      case 'update':
        return this.update(command.key, command.stale);
      case 'delete':
        return this.delete(command.key, command.stale);
      case 'list':
        return this.list(command.namespace);
      case 'firstPage':
        return this.firstPage(command.namespace, command.limit);
      case 'watch':
        return this.watch(command.namespace);
    }
  }

  /** Operations started before the last writes: the other pages, and the watches. */
  async finish(): Promise<void> {
    expect(await this.storage.currentRevision()).toBe(this.revision);
    for (const check of this.later) await check();
  }

  private async create(key: StorageKey): Promise<void> {
    const value = ++this.value;
    const known = this.state.has(idOf(key));
    const outcome = await this.storage.create(key, anObject(key, value)).catch((error: unknown) => error);
    if (known) expect(isStorageExists(outcome)).toBe(true);
    else this.expectWritten(outcome, key, value);
  }

  private async update(key: StorageKey, stale: boolean): Promise<void> {
    const value = ++this.value;
    const current = this.state.get(idOf(key));
    const expected = (current?.revision ?? 1) - (stale ? 1 : 0);
    const outcome = await this.storage
      .update(key, anObject(key, value), expected)
      .catch((error: unknown) => error);
    if (!current) expect(isStorageNotFound(outcome)).toBe(true);
    else if (stale) expect(isStorageConflict(outcome)).toBe(true);
    else this.expectWritten(outcome, key, value);
  }

  private async delete(key: StorageKey, stale: boolean): Promise<void> {
    const current = this.state.get(idOf(key));
    const expected = (current?.revision ?? 1) - (stale ? 1 : 0);
    const outcome = await this.storage.delete(key, expected).catch((error: unknown) => error);
    if (!current) expect(isStorageNotFound(outcome)).toBe(true);
    else if (stale) expect(isStorageConflict(outcome)).toBe(true);
    else {
      expect(outcome).toMatchObject({ revision: ++this.revision, object: { value: current.value } });
      this.state.delete(idOf(key));
      this.lastWrites.set(`${key.resource}\0${key.namespace}`, this.revision);
    }
  }

  private expectWritten(outcome: unknown, key: StorageKey, value: number): void {
    const revision = ++this.revision;
    expect(outcome).toMatchObject({
      revision,
      object: { value, metadata: { resourceVersion: String(revision) } },
    });
    this.state.set(idOf(key), { revision, value, key });
    this.lastWrites.set(`${key.resource}\0${key.namespace}`, revision);
  }

  private async list(namespace: string | undefined): Promise<void> {
    for (const resource of RESOURCES) {
      const list = await this.storage.list(resource, { namespace });
      expect(list.revision).toBe(this.revision);
      expect(list.items.map(entryOf)).toEqual([...this.view(resource, namespace)]);
    }
  }

  private async firstPage(namespace: string | undefined, limit: number): Promise<void> {
    const resource = RESOURCES[0] as string;
    const expected = [...this.view(resource, namespace)];
    let page = await this.storage.list(resource, { namespace, limit });
    this.later.push(async () => {
      const seen = page.items.map(entryOf);
      while (page.next) {
        expect(page.remaining).toBe(expected.length - seen.length);
        page = await this.storage.list(resource, { namespace, limit, continueFrom: page.next });
        seen.push(...page.items.map(entryOf));
      }
      expect(seen).toEqual(expected);
    });
  }

  private async watch(namespace: string | undefined): Promise<void> {
    const resource = RESOURCES[0] as string;
    const start = await this.storage.list(resource, { namespace });
    const state = new Map(start.items.map(entryOf));
    this.later.push(async () => {
      await this.replay(resource, namespace, start.revision, state);
      expect(new Map([...state].sort())).toEqual(new Map(this.view(resource, namespace)));
    });
  }

  private async replay(
    resource: string,
    namespace: string | undefined,
    after: Revision,
    state: Map<string, Entry>,
  ): Promise<void> {
    const end = this.lastWrite(resource, namespace);
    if (end <= after) return;
    const options = { resource, namespace, after };
    for await (const event of eachOf(this.storage.watch(options, new AbortController().signal))) {
      if (event.type === 'progress') throw new Error('unexpected progress event');
      const id = idOf(event.key);
      if (event.type === 'created') expect(state.has(id)).toBe(false);
      else {
        expect(entryOf({ object: event.previous, revision: 0 })[1].value).toBe(state.get(id)?.value);
        expect(event.previous.metadata.resourceVersion).toBe(String(state.get(id)?.revision));
      }
      if (event.type === 'deleted') state.delete(id);
      else state.set(...entryOf({ object: event.object, revision: event.revision }));
      expect(event.object.metadata.resourceVersion).toBe(String(event.revision));
      if (event.revision === end) return;
    }
  }

  private lastWrite(resource: string, namespace: string | undefined): Revision {
    const scope = namespace === undefined ? NAMESPACES : [namespace];
    return Math.max(0, ...scope.map((each) => this.lastWrites.get(`${resource}\0${each}`) ?? 0));
  }

  private view(resource: string, namespace: string | undefined): State {
    const found = [...this.state]
      .filter(([, { key }]) => key.resource === resource)
      .filter(([, { key }]) => namespace === undefined || key.namespace === namespace)
      .map(([id, { revision, value }]) => [id, { revision, value }] as const);
    return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function idOf(key: StorageKey): string {
  return `${key.resource}\0${key.namespace}\0${key.name}`;
}

function anObject(key: StorageKey, value: number): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: key.name }, key, value };
}

function entryOf(stored: { readonly object: object; readonly revision: Revision }): [string, Entry] {
  const { key, value } = stored.object as { key: StorageKey; value: number };
  return [idOf(key), { revision: stored.revision, value }];
}

async function* eachOf<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
