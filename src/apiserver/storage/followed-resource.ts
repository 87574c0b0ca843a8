import type { Clock } from '@rollkeeper/machinery/clock';
import { keepFollowing } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { isStorageExpired } from './errors.js';
import { pagesOf } from './pages-of.js';
import { identityProblem } from './stored-identity.js';
import type { Revision, Storage, StorageKey, StoredObject } from './storage.js';
import type { ObjectCheck, UnreadableObjects } from './unreadable-objects.js';

const PAUSES = { firstMs: 200, longestMs: 2000, healthyAfterMs: 5000 };
/** In the place of a problem: there is no object any more. */
const GONE = '';
const NONE: readonly BrokenObject[] = [];

export interface FollowDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default any object with metadata */
  readonly check?: ObjectCheck;
}

/** Called with every new state once, in order; `undefined`: the object was deleted. The object is read-only. */
type ChangeListener = (key: StorageKey, object: KubernetesObject | undefined) => void;

/** A stored value that cannot be understood. */
export interface BrokenObject {
  readonly namespace: string;
  readonly name: string;
  /** The part of it that could be read; undefined if that is nothing. */
  readonly object: unknown;
}

interface Known {
  readonly key: StorageKey;
  readonly revision: Revision;
  readonly isGone: boolean;
}

/**
 * Reports every state of the objects of one resource: those of other processes from a watch, those of this process before their
 * write is answered, so that it never decides by its own outdated state. States are never reported out of order. Keeps no
 * objects itself; that is its listeners' business. An unreadable object is reported as deleted, and the rest continues.
 */
export class FollowedResource {
  /** By `namespace/name`. Of objects that this process has removed, too, until the watch comes to the removal. */
  private readonly known = new Map<string, Known>();
  /** By `namespace/name`. */
  private readonly broken = new Map<string, BrokenObject>();
  private readonly listeners: ChangeListener[] = [];
  /** Everything up to this revision has been reported. */
  private toldUpTo: Revision = -1;
  private isRead = false;

  constructor(
    /** Qualified: `storageclasses.storage.k8s.io`. */
    readonly resource: string,
    private readonly storage: Storage,
    private readonly dependencies: FollowDependencies,
    private readonly unreadable: UnreadableObjects,
  ) {}

  /**
   * The objects that count as absent because they cannot be understood. Each is the same as long as it has not changed.
   */
  get brokenObjects(): readonly BrokenObject[] {
    return this.broken.size === 0 ? NONE : [...this.broken.values()];
  }

  /** To be called before {@link load}. */
  onChange(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  /** Takes over all objects as they are now. */
  async load(): Promise<void> {
    const seen = new Set<string>();
    let revision = this.toldUpTo;
    for await (const page of pagesOf(this.storage, this.resource)) {
      revision = page.revision;
      for (const stored of page.items) {
        const key = stored.key ?? this.keyOf(stored.object);
        seen.add(idOf(key));
        this.put(key, () => stored.object, stored.revision);
      }
    }
    for (const [id, known] of this.known)
      if (!seen.has(id) && known.revision <= revision) this.drop(id, known);
    this.toldUpTo = revision;
    this.isRead = true;
  }

  /** Follows the objects until aborted. Reads them first, unless {@link load} has. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.dependencies;
    const round = async (): Promise<void> => {
      try {
        if (!this.isRead) await this.load();
        await this.follow(signal);
      } catch (error) {
        this.isRead = false;
        // The store has been replaced, or we were too slow.
        if (!isStorageExpired(error)) throw error;
      }
    };
    const onFailure = (error: unknown): void =>
      logger.warn('a watch of the store broke, starting again', {
        resource: this.resource,
        error: errorMessage(error),
      });
    await keepFollowing(round, { clock, ...PAUSES, onFailure }, signal);
  }

  /** Asks the store for an object that the watch may not have shown yet. */
  async lookUp(namespace: string, name: string): Promise<KubernetesObject | undefined> {
    const key = { resource: this.resource, namespace, name };
    const found = await this.storage.get(key);
    if (!found) return undefined;
    const { object, problem } = this.read(key, found);
    // Reported even if unreadable, which counts as deleted.
    if (found.revision > this.toldUpTo) this.put(key, () => found.object, found.revision);
    return problem === undefined ? object : undefined;
  }

  /** Reports a state that did not come by the watch, which may already have shown newer ones, or even the removal. */
  tell(key: StorageKey, object: KubernetesObject | undefined, revision: Revision): void {
    if (revision > this.toldUpTo) this.put(key, () => object, revision);
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const options = { resource: this.resource, after: this.toldUpTo };
    for await (const events of this.storage.watch(options, signal)) {
      for (const event of events) {
        if (event.type === 'deleted') this.removed(event.key, event.revision);
        else if (event.type !== 'progress') this.put(event.key, () => event.object, event.revision);
        this.toldUpTo = event.revision;
      }
    }
  }

  /** @param read throws for what is no object */
  private put(key: StorageKey, read: () => KubernetesObject | undefined, revision: Revision): void {
    const id = idOf(key);
    if ((this.known.get(id)?.revision ?? -1) >= revision) return;
    const problem = this.tryTell(key, read);
    this.known.set(id, { key, revision, isGone: problem !== undefined });
    if (problem === undefined || problem === GONE) {
      this.unreadable.remove(key);
      this.broken.delete(id);
      return;
    }
    this.broken.set(id, { namespace: key.namespace, name: key.name, object: readOf(read) });
    this.unreadable.add(key, revision, problem);
    this.tellGone(key);
  }

  /** @returns why the object is unreadable */
  private tryTell(key: StorageKey, read: () => KubernetesObject | undefined): string | undefined {
    try {
      const object = read();
      const problem = object && this.problemOf(object, key);
      if (problem !== undefined) return problem;
      for (const listener of this.listeners) listener(key, object);
      return object ? undefined : GONE;
    } catch (error) {
      return errorMessage(error);
    }
  }

  private problemOf(object: KubernetesObject, key: StorageKey): string | undefined {
    return identityProblem(object, key) ?? this.dependencies.check?.(this.resource, object);
  }

  private read(
    key: StorageKey,
    stored: StoredObject,
  ): { object?: KubernetesObject; problem?: string | undefined } {
    try {
      return { object: stored.object, problem: this.problemOf(stored.object, key) };
    } catch (error) {
      return { problem: errorMessage(error) };
    }
  }

  private tellGone(key: StorageKey): void {
    for (const listener of this.listeners) {
      try {
        listener(key, undefined);
      } catch (error) {
        const problem = errorMessage(error);
        this.dependencies.logger.error('an object could not be forgotten', { ...key, error: problem });
      }
    }
  }

  /** The watch has come to a removal: nothing older can follow. */
  private removed(key: StorageKey, revision: Revision): void {
    const id = idOf(key);
    const known = this.known.get(id);
    if (known && known.revision <= revision) this.drop(id, known);
  }

  private drop(id: string, { key, isGone }: Known): void {
    this.known.delete(id);
    this.broken.delete(id);
    this.unreadable.remove(key);
    if (!isGone) this.tellGone(key);
  }

  private keyOf({ metadata: { name, namespace = '' } }: KubernetesObject): StorageKey {
    return { resource: this.resource, namespace, name };
  }
}

/** The objects of a followed resource in memory: asking for them costs no read. They are read-only. */
export class FollowedObjects<T extends KubernetesObject = KubernetesObject> {
  private readonly namespaces = new Map<string, Map<string, T>>();

  constructor(private readonly followed: FollowedResource) {
    followed.onChange(({ name, namespace }, object) => {
      if (object) this.put(namespace, name, objectOfKind<T>(object));
      else this.remove(namespace, name);
    });
  }

  /** Qualified. */
  get resource(): string {
    return this.followed.resource;
  }

  /** An object at which `work` throws counts as one that cannot be understood. To be called before the resource is loaded. */
  prepareBy(work: (object: Readonly<T>) => unknown): void {
    this.followed.onChange((_key, object) => void (object && work(objectOfKind<T>(object))));
  }

  /** The stored values that cannot be understood: no other method knows them. */
  get broken(): readonly BrokenObject[] {
    return this.followed.brokenObjects;
  }

  /** `namespace` is empty for those without one. */
  get(namespace: string, name: string): Readonly<T> | undefined {
    return this.namespaces.get(namespace)?.get(name);
  }

  /** In no particular order. */
  list(namespace: string): readonly Readonly<T>[] {
    const objects = this.namespaces.get(namespace);
    return objects ? [...objects.values()] : [];
  }

  /** Asks the store for an object that the watch may not have shown yet. */
  async lookUp(namespace: string, name: string): Promise<Readonly<T> | undefined> {
    const found = await this.followed.lookUp(namespace, name);
    return found && objectOfKind<T>(found);
  }

  private put(namespace: string, name: string, object: T): void {
    const objects = this.namespaces.get(namespace) ?? new Map<string, T>();
    objects.set(name, object);
    this.namespaces.set(namespace, objects);
  }

  private remove(namespace: string, name: string): void {
    const objects = this.namespaces.get(namespace);
    objects?.delete(name);
    if (objects?.size === 0) this.namespaces.delete(namespace);
  }
}

/** As far as there is an object. */
function readOf(read: () => KubernetesObject | undefined): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function idOf({ namespace, name }: StorageKey): string {
  return `${namespace}/${name}`;
}
