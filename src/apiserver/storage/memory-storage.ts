import { randomBytes } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import {
  StorageConflictError,
  StorageExistsError,
  StorageExpiredError,
  StorageNotFoundError,
} from './errors.js';
import type { FollowedLog } from './follow-log.js';
import { followLog } from './follow-log.js';
import { LogCompactor } from './log-compactor.js';
import type { LoggedWrite } from './log-entry.js';
import type { StoredText } from './object-text.js';
import { encodeObject, fieldOf, parseField, toStoredObject, toWrittenObject } from './object-text.js';
import { SECRET_BYTES } from './storage.js';
import type {
  Revision,
  Storage,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageListOptions,
  StorageRecord,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';

const MAX_LOG_AGE_MS = 5 * 60_000;

interface MemoryStorageOptions {
  /** @default the system's */
  clock?: Clock;
  /** How many writes the watch log keeps. @default 12000 */
  maxLogEntries?: number;
  /** How long the watch log keeps them, milliseconds. @default five minutes, after which etcd is compacted, too */
  maxLogAgeMs?: number;
  /** The value of {@link Storage.secret}. @default random */
  secret?: Buffer;
}

/** The contract of {@link Storage} in its plainest form; for tests, and to hold other implementations against. */
export class MemoryStorage implements Storage {
  private readonly clock: Clock;
  private readonly maxLogEntries: number;
  private readonly maxLogAgeMs: number;
  private readonly resourceMaps = new Map<string, Map<string, StoredText>>();
  private revision: Revision = 1;
  /** Consecutive revisions; the last is `revision`. */
  private log: LoggedWrite[] = [];
  /** By resource. */
  private readonly waiting = new Map<string, Set<() => void>>();
  /** The change that watchers are being woken for. */
  private told: Revision | undefined;
  /** No watch from before it goes on. */
  private replacedAt: Revision = 0;
  private readonly ownSecret: Buffer;
  private hasRun = false;

  constructor(options: MemoryStorageOptions = {}) {
    this.clock = options.clock ?? new SystemClock();
    this.maxLogEntries = options.maxLogEntries ?? 12_000;
    this.maxLogAgeMs = options.maxLogAgeMs ?? MAX_LOG_AGE_MS;
    this.ownSecret = options.secret ?? randomBytes(SECRET_BYTES);
  }

  async create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>> {
    if (this.find(key)) throw new StorageExistsError(key);
    return toWrittenObject(object, this.write('created', key, encodeObject(object), undefined));
  }

  async get(key: StorageKey): Promise<StoredObject | undefined> {
    const stored = this.find(key);
    return stored && toStoredObject(stored);
  }

  /** Always current here: there are no other writers. */
  recall(key: StorageKey): StoredObject | undefined {
    const stored = this.find(key);
    return stored && toStoredObject(stored);
  }

  async update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>> {
    const current = this.expect(key, expectedRevision);
    return toWrittenObject(object, this.write('updated', key, encodeObject(object), current));
  }

  async delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject> {
    const current = this.expect(key, expectedRevision);
    return toStoredObject(this.write('deleted', key, current.text, current));
  }

  async list(resource: string, options: StorageListOptions = {}): Promise<StorageList> {
    const { namespace, continueFrom } = options;
    const revision = continueFrom?.revision ?? this.revision;
    const after = continueFrom && fieldOf(continueFrom);
    const found = [...this.stateAt(resource, revision)]
      .filter(([field]) => namespace === undefined || parseField(field).namespace === namespace)
      .filter(([field]) => after === undefined || field > after)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const shown = found.slice(0, countOf(found, options));
    const items = shown.map(([field, stored]) => toStoredObject(stored, { resource, ...parseField(field) }));
    const remaining = found.length - shown.length;
    const last = shown.at(-1)?.[0] ?? after;
    return remaining > 0 && last !== undefined
      ? { items, revision, remaining, next: { revision, ...parseField(last) } }
      : { items, revision, remaining };
  }

  async *watch(
    options: StorageWatchOptions,
    signal: AbortSignal,
  ): AsyncGenerator<readonly StorageEvent[], void, undefined> {
    yield* followLog(this.followedLog(), options, this.clock, signal);
  }

  async currentRevision(): Promise<Revision> {
    return this.revision;
  }

  async resources(): Promise<{ resources: readonly string[]; revision: Revision }> {
    const resources = [...this.resourceMaps].filter(([, objects]) => objects.size > 0).map(([name]) => name);
    return { resources, revision: this.revision };
  }

  async replaceAll(records: AsyncIterable<StorageRecord>): Promise<Revision> {
    const found: { key: StorageKey; text: string }[] = [];
    for await (const { key, object } of records) found.push({ key, text: encodeObject(object) });
    this.resourceMaps.clear();
    for (const { key, text } of found) {
      this.objectsOf(key.resource).set(fieldOf(key), { revision: ++this.revision, text });
    }
    // Beyond that of any object: a watch from there has not seen the rest.
    this.revision++;
    this.replacedAt = this.revision;
    this.log = [];
    this.wake();
    return this.revision;
  }

  async compact(revision: Revision): Promise<void> {
    if (revision > this.revision) {
      throw new InvalidOptionError('revision', `${revision} is not reached, we are at ${this.revision}`);
    }
    this.log = this.log.filter((entry) => entry.revision > revision);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the storage has been run already');
    this.hasRun = true;
    // Nothing in memory can fail.
    await new LogCompactor(this.clock, this.maxLogAgeMs, this, () => undefined).run(signal);
  }

  async secret(): Promise<Buffer> {
    return this.ownSecret;
  }

  async ping(): Promise<void> {
    // Always there.
  }

  async assertWritable(): Promise<void> {
    // Always.
  }

  private find(key: StorageKey): StoredText | undefined {
    return this.resourceMaps.get(key.resource)?.get(fieldOf(key));
  }

  private expect(key: StorageKey, revision: Revision): StoredText {
    const current = this.find(key);
    if (!current) throw new StorageNotFoundError(key);
    if (current.revision !== revision) throw new StorageConflictError(key, revision, toStoredObject(current));
    return current;
  }

  private write(
    type: LoggedWrite['type'],
    key: StorageKey,
    text: string,
    previous: StoredText | undefined,
  ): StoredText {
    const revision = ++this.revision;
    const objects = this.objectsOf(key.resource);
    const { resource, namespace, name } = key;
    if (type !== 'deleted') objects.set(fieldOf(key), { revision, text });
    // A definition may never be seen again.
    else if (objects.delete(fieldOf(key)) && objects.size === 0) this.resourceMaps.delete(resource);
    this.log.push({
      type,
      key: Object.freeze({ resource, namespace, name }),
      revision,
      text,
      ...(previous ? { previous } : {}),
      previousRevision: revision - 1,
      writeId: String(revision),
      previousWriteId: String(revision - 1),
    });
    if (this.log.length > this.maxLogEntries) this.log.shift();
    this.told = revision;
    this.wake(resource);
    this.told = undefined;
    return { revision, text };
  }

  private objectsOf(resource: string): Map<string, StoredText> {
    let objects = this.resourceMaps.get(resource);
    if (!objects) this.resourceMaps.set(resource, (objects = new Map<string, StoredText>()));
    return objects;
  }

  /** Wakes the watchers of a resource. @param resource absent: those of all resources */
  private wake(resource?: string): void {
    for (const name of resource === undefined ? [...this.waiting.keys()] : [resource]) {
      const waiting = this.waiting.get(name) ?? [];
      this.waiting.delete(name);
      for (const wake of waiting) wake();
    }
  }

  /** A watcher that waits has been woken by each earlier change of its resource: only the one that wakes it now may be new. */
  private quietUntil(position: Revision): Revision {
    if (position < this.replacedAt) return position;
    return this.told === undefined ? this.revision : this.told - 1;
  }

  /** The objects of a resource as they were: the present, with the log undone from its end. */
  private stateAt(resource: string, revision: Revision): ReadonlyMap<string, StoredText> {
    const state = new Map(this.resourceMaps.get(resource));
    for (const entry of this.entriesAfter(revision).reverse()) {
      if (entry.key.resource !== resource) continue;
      if (entry.previous) state.set(fieldOf(entry.key), entry.previous);
      else state.delete(fieldOf(entry.key));
    }
    return state;
  }

  private entriesAfter(revision: Revision): LoggedWrite[] {
    const kept = this.revision - this.log.length;
    if (revision < kept) throw new StorageExpiredError(revision, `the watch log begins after ${kept}`);
    if (revision > this.revision) {
      throw new StorageExpiredError(revision, `the store is only at ${this.revision}`);
    }
    return this.log.slice(revision - kept);
  }

  private followedLog(): FollowedLog {
    const lastRevision = (): Revision => this.revision;
    return {
      get last() {
        return lastRevision();
      },
      readAfter: async (revision) => this.entriesAfter(revision),
      onChange: (resource, wake) => {
        const waiting = this.waiting.get(resource) ?? new Set();
        this.waiting.set(resource, waiting.add(wake));
        return () => {
          // A resource may never be seen again: its definition was deleted.
          if (waiting.delete(wake) && waiting.size === 0 && this.waiting.get(resource) === waiting)
            this.waiting.delete(resource);
        };
      },
      quietUntil: (_resource, position) => this.quietUntil(position),
    };
  }
}

/** How many of the found make a page. */
function countOf(
  found: readonly (readonly [string, StoredText])[],
  { limit = Infinity, maxTextLength = Infinity }: StorageListOptions,
): number {
  let count = 0;
  for (let length = 0; count < Math.min(limit, found.length) && length < maxTextLength; count++) {
    length += found[count]![1].text.length;
  }
  return count;
}
