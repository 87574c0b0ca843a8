import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';

/**
 * A change of the cache. `initial` marks objects of the first list. A deletion that was only noticed by the object's
 * absence from a relist carries the last state seen (`finalStateUnknown`). `modified` always concerns one object: if
 * another object has taken its name, there is a `deleted` for the first and an `added` for the other, so handlers need
 * not compare UIDs.
 */
export type ResourceEvent<T> =
  | { readonly type: 'added'; readonly object: DeepReadonly<T>; readonly initial: boolean }
  | { readonly type: 'modified'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | {
      readonly type: 'deleted';
      readonly object: DeepReadonly<T>;
      readonly finalStateUnknown: boolean;
      /** The last state that the cache had before, where `object` is a newer one: what had changed with it was never seen. */
      readonly old?: DeepReadonly<T>;
    };

/** Called in the order of the events, synchronously: be quick, never throw. */
export type ResourceEventHandler<T> = (event: ResourceEvent<T>) => void;

/** Computes the index values of an object. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** Names of the indexes that every informer has. */
export const OWNER_UID_INDEX = 'owner-uid';
/** An index of every cache: objects by their namespace. */
export const NAMESPACE_INDEX = 'namespace';

/**
 * Read access to the cache. Objects are shared: never change one. Eventually consistent; the states of an object appear
 * in order, and some may be skipped. A key may name another object than before, so compare UIDs.
 */
export interface Lister<T> {
  get(key: string): DeepReadonly<T> | undefined;
  list(): readonly DeepReadonly<T>[];
  /** Costs in proportion to the result only. @throws IllegalStateError for an index that does not exist */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
}

/**
 * The scope of a version. Separately watched namespaces advance separately, and a quiet one may lag behind for long:
 * name the namespace when asking on behalf of an object.
 */
export interface VersionScope {
  /** @default everything in the cache */
  readonly namespace?: string;
}

/** Why a type's objects cannot be listed or watched at the moment. */
export interface InformerTrouble {
  readonly reason: string;
  /** The HTTP status of the answer; absent without an answer. */
  readonly code?: number;
}

/** How far the first list of a shard has come. */
export interface ShardProgress {
  readonly hasSynced: boolean;
  readonly trouble: InformerTrouble | undefined;
  /** Time since the shard was taken up, milliseconds. */
  readonly ageMs: number;
  /** Whether the objects of a namespace are in the shard. */
  includes(namespace: string): boolean;
}

/** Receives what happens to the shards of a cache, synchronously: be quick, never throw. */
export interface ShardHandler<T> {
  /** A shard was left, and the cache has forgotten these objects, to which nothing has happened. */
  left(objects: readonly DeepReadonly<T>[]): void;
  /** The first list of a shard is complete, and its events were given to all handlers. */
  listed(): void;
}

/** A warm cache of one resource type, and the stream of its changes. */
export interface Informer<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  /** The first list is complete. */
  readonly hasSynced: boolean;
  /**
   * The newest resourceVersion that the cache is known to show: of an object, a bookmark, or the list. With separately
   * watched namespaces, that of the one furthest behind.
   */
  readonly lastSyncedResourceVersion: string | undefined;
  /** With separately watched namespaces: those without a complete first list. @default none */
  readonly unsyncedNamespaces?: readonly string[];
  /** With shards: whether the objects of a namespace are among those shown. @default all are */
  showsNamespace?(namespace: string): boolean;
  /** With shards: each of them. @default the cache is not made of shards */
  readonly shardProgress?: readonly ShardProgress[] | undefined;
  /** With shards: adds a handler; returns a function that removes it. */
  addShardHandler?(handler: ShardHandler<T>): () => void;
  /** With shards: whether the server sends the objects of others as well, which are left out here. @default false */
  readonly leavesOutShards?: boolean;
  /**
   * The version that shows every deletion this cache has ever seen; it cannot be derived from the cached objects. For
   * deletions noticed by absence, it is the list's. Undefined if none was seen.
   */
  readonly newestDeletion?: string;
  /**
   * The version at which every object not in this cache was deleted or had never existed. Undefined before the first
   * list, or if unknown.
   */
  absencesSeen?(scope?: VersionScope): string | undefined;
  /**
   * The error of the last list, or of a watch that the server refuses; a successful list clears it. A watch that broke
   * or expired is not an error: that is routine.
   */
  readonly trouble?: InformerTrouble;
  /** Adds an index; before `run` only. Adding the same function under the same name again is a no-op. */
  addIndex(name: string, index: IndexFunction<T>): void;
  /**
   * Adds a handler. It first gets `added` (initial) for everything already cached. Returns a function that removes it.
   */
  addEventHandler(handler: ResourceEventHandler<T>): () => void;
  /** Resolves once `hasSynced`; rejects with the signal's reason. */
  waitForSync(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once `hasSynced`, or once the server has answered that there is no list; rejects with the signal's reason.
   */
  waitUntilSettled(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the cache shows what the server has, but for what an open watch brings within moments: immediately
   * while all is well, else after a list that begins now. Also resolves while the server refuses to list. Rejects with
   * the signal's reason.
   * @default not known; see {@link waitForSync}
   */
  waitUntilCurrent?(signal: AbortSignal): Promise<void>;
  /** Whether the cache shows the state at `resourceVersion` or a later one. */
  hasSeen(resourceVersion: string, scope?: VersionScope): boolean;
  /**
   * Resolves once the cache shows the state at `resourceVersion` or a later one. If the server turns out not to have it
   * (any more), resolves once the cache shows what the server had at some moment after the call. Rejects with the
   * signal's reason.
   */
  waitForResourceVersion(resourceVersion: string, signal: AbortSignal, scope?: VersionScope): Promise<void>;
  /** Lists and watches until aborted, surviving every error. Resolves on abort; a second call throws. */
  run(signal: AbortSignal): Promise<void>;
}
