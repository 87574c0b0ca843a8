import { errorMessage } from '@rollkeeper/machinery/errors';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { isStorageUnreadable } from './errors.js';
import { FollowedObjects, FollowedResource } from './followed-resource.js';
import type { FollowDependencies } from './followed-resource.js';
import type {
  Storage,
  StorageEvent,
  StorageKey,
  StorageList,
  StorageWatchOptions,
  StoredObject,
} from './storage.js';
import { identityProblem } from './stored-identity.js';
import { UnreadableObjects } from './unreadable-objects.js';
import type { UnreadableListener } from './unreadable-objects.js';
import { hash } from 'node:crypto';

/** The number of objects whose texts are remembered, 0.2 kB each. */
const REMEMBERED = 20_000;

/**
 * The stored texts that were found to be an object of their key. A list of a large resource would read each of them again, only to
 * find the same; a digest takes a quarter of the time. The revision alone does not do: a text may be changed behind the store's back.
 */
export class KnownTexts {
  private readonly digests = new Map<string, string>();

  /** @param remembered objects; the longest known is forgotten first @default 20 000 */
  constructor(private readonly remembered = REMEMBERED) {}

  /** The answer of `find`, which is not asked again while the text is the same, unless it finds a problem. */
  problemOf(key: StorageKey, text: string, find: () => string | undefined): string | undefined {
    const name = nameOf(key);
    const digest = hash('sha256', text, 'base64');
    if (this.digests.get(name) === digest) return undefined;
    const problem = find();
    this.digests.delete(name);
    if (problem === undefined) this.remember(name, digest);
    return problem;
  }

  private remember(name: string, digest: string): void {
    this.digests.set(name, digest);
    if (this.digests.size <= this.remembered) return;
    const [oldest = ''] = this.digests.keys();
    this.digests.delete(oldest);
  }
}

/** No part of a key holds a slash. */
function nameOf({ name, namespace, resource }: StorageKey): string {
  return `${resource}/${namespace}/${name}`;
}

/**
 * The resources of a store that a server keeps in memory: those requested with {@link of} or {@link objects} before
 * {@link load}.
 */
export class FollowedResources {
  /** The store. A write to a followed resource is reported before it resolves; others only cost a look-up. */
  readonly storage: Storage;
  readonly unreadable: UnreadableObjects;
  private readonly followed = new Map<string, FollowedResource>();
  private readonly known = new KnownTexts();

  constructor(
    private readonly inner: Storage,
    private readonly dependencies: FollowDependencies,
    unreadableChanged?: UnreadableListener,
  ) {
    this.unreadable = new UnreadableObjects(dependencies.logger, unreadableChanged);
    this.storage = this.telling();
  }

  /** @param resource qualified */
  of(resource: string): FollowedResource {
    const existing = this.followed.get(resource);
    if (existing) return existing;
    const followed = new FollowedResource(resource, this.inner, this.dependencies, this.unreadable);
    this.followed.set(resource, followed);
    return followed;
  }

  /** @param resource qualified */
  objects<T extends KubernetesObject = KubernetesObject>(resource: string): FollowedObjects<T> {
    return new FollowedObjects<T>(this.of(resource));
  }

  /** Reads them all. Before the first request. */
  async load(): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.load()));
    for (const resource of this.followed.keys()) this.unreadable.report(resource);
  }

  /** Follows them all until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.run(signal)));
  }

  private telling(): Storage {
    const { inner } = this;
    return {
      create: (key, object) => this.told(key, inner.create(key, object)),
      update: (key, object, revision) => this.told(key, inner.update(key, object, revision)),
      delete: (key, revision) => this.told(key, inner.delete(key, revision), { isRemoval: true }),
      get: (key) => inner.get(key),
      recall: (key) => inner.recall(key),
      list: (resource, options) => this.list(resource, options),
      watch: (options, signal) =>
        this.watch(options, signal, this.followed.has(options.resource) ? isReadable : isReadableRemoval),
      currentRevision: () => inner.currentRevision(),
      resources: () => inner.resources(),
      replaceAll: (records) => inner.replaceAll(records),
      compact: (revision) => inner.compact(revision),
      run: (signal) => inner.run(signal),
      secret: () => inner.secret(),
      ping: () => inner.ping(),
      assertWritable: () => inner.assertWritable(),
    };
  }

  /** Without what is no object of its name: one would spoil the list for all readers. */
  private async list(...[resource, options]: Parameters<Storage['list']>): ReturnType<Storage['list']> {
    const list = await this.inner.list(resource, options);
    if (!this.followed.has(resource)) return this.readableOf(resource, list);
    return this.unreadable.hasAny(resource) ? { ...list, items: list.items.filter(isOwnObject) } : list;
  }

  /** The resource is not followed, so unreadable objects are noticed, and recorded, when they are read. */
  private readableOf(resource: string, list: StorageList): StorageList {
    const items = list.items.filter((stored) => {
      const { key } = stored;
      const problem = this.problemOf(stored);
      if (key && problem !== undefined) this.unreadable.add(key, stored.revision, problem);
      else if (key && this.unreadable.hasAny(resource)) this.unreadable.readable(key, stored.revision);
      return problem === undefined;
    });
    return items.length < list.items.length ? { ...list, items } : list;
  }

  private problemOf(stored: StoredObject): string | undefined {
    const text = stored.key && wholeText(stored);
    if (!stored.key || text === undefined) return problemOf(stored);
    return this.known.problemOf(stored.key, text, () => problemOf(stored));
  }

  private async *watch(
    options: StorageWatchOptions,
    signal: AbortSignal,
    isShown: (event: ObjectEvent) => boolean,
  ): AsyncIterable<readonly StorageEvent[]> {
    for await (const events of this.inner.watch(options, signal)) {
      const readable = events.filter((event) => event.type === 'progress' || isShown(event));
      if (readable.length > 0) yield readable;
    }
  }

  private told<T extends KubernetesObject>(
    key: StorageKey,
    write: Promise<StoredObject<T>>,
    { isRemoval = false } = {},
  ): Promise<StoredObject<T>> {
    const followed = this.followed.get(key.resource);
    if (!followed)
      return write.then((stored) => {
        // It has been noted as unreadable there.
        this.unreadable.remove(key);
        return stored;
      });
    return write.then((stored) => {
      // A removal needs no look at what was there.
      followed.tell(key, isRemoval ? undefined : stored.object, stored.revision);
      return stored;
    });
  }
}

function isOwnObject(stored: StoredObject): boolean {
  const { key } = stored;
  return key ? isOwn(key, () => stored.object) : canRead(() => stored.object);
}

function isOwn(key: StorageKey, read: () => KubernetesObject): boolean {
  return canRead(read) && identityProblem(read(), key) === undefined;
}

type ObjectEvent = Exclude<StorageEvent, { type: 'progress' }>;

/** Servers write nothing but objects: only what is removed may be something else. */
function isReadableRemoval(event: ObjectEvent): boolean {
  return event.type !== 'deleted' || isReadable(event);
}

/** Why a text of the store is no object of its key. Looks at all of it, and keeps nothing: a list sends texts as they are stored. */
function problemOf(stored: StoredObject): string | undefined {
  try {
    const object: unknown = stored.json ? parseJson(stored.json.whole()) : stored.object;
    return stored.key && identityProblem(object, stored.key);
  } catch (error) {
    if (isStorageUnreadable(error)) return errorMessage(error);
    if (error instanceof SyntaxError) return `what is stored is no JSON: ${error.message}`;
    throw error;
  }
}

/** Undefined without a text, or with one that can only be told as an object, and is none. */
function wholeText({ json }: StoredObject): string | undefined {
  try {
    return json?.whole();
  } catch (error) {
    if (isStorageUnreadable(error)) return undefined;
    throw error;
  }
}

/** The state before may have been anything: one that has been put right is shown. */
function isReadable(event: ObjectEvent): boolean {
  return isOwn(event.key, () => event.object) && (event.type === 'created' || canRead(() => event.previous));
}

function canRead(read: () => KubernetesObject): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (isStorageUnreadable(error)) return false;
    throw error;
  }
}
