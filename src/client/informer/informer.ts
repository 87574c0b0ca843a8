import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';

/**
 * A change of the cache. `initial` marks what the first list brought. A deletion that was only noticed by the
 * object's absence from a relist carries the last state we saw (`finalStateUnknown`). `modified` is of one object: where
 * another has its name by now, the first is `deleted` and the other `added`, so handlers need not compare UIDs.
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

/** Computes the values under which an object is found in an index. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** Names of the indexes that every informer has. */
export const OWNER_UID_INDEX = 'owner-uid';
export const NAMESPACE_INDEX = 'namespace';

/**
 * Read access to the cache. Objects are shared: never change one. Eventually consistent; per object the states
 * are seen in order, and some may be skipped: what a key names now may be another object than before, so compare UIDs.
 */
export interface Lister<T> {
  get(key: string): DeepReadonly<T> | undefined;
  list(): readonly DeepReadonly<T>[];
  /** Costs in proportion to the result alone. @throws IllegalStateError for an index that does not exist */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
}

/**
 * Where a version matters. Namespaces that are watched one by one advance one by one, and a quiet one may stay behind for
 * long: who asks on behalf of an object names its namespace.
 */
export interface VersionScope {
  /** @default all that the cache has */
  readonly namespace?: string;
}

/** Why a type's objects cannot be listed or watched at the moment. */
export interface InformerTrouble {
  readonly reason: string;
  /** The HTTP status of the answer; absent where none came. */
  readonly code?: number;
}

/** A warm cache of one resource type, and the stream of its changes. */
export interface Informer<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  /** The first list is complete. */
  readonly hasSynced: boolean;
  /**
   * The newest resourceVersion that the cache is known to show: of an object, a bookmark, or the list. Where several
   * namespaces are watched one by one, that of the one furthest behind.
   */
  readonly lastSyncedResourceVersion: string | undefined;
  /** Where several namespaces are watched one by one: those without a complete first list. @default none */
  readonly unsyncedNamespaces?: readonly string[];
  /**
   * The state that shows every deletion that this cache has seen, now or before: nothing that is cached says so. Of
   * deletions that were noticed by absence, it is the list's. Undefined where none was seen.
   */
  readonly newestDeletion?: string;
  /**
   * The state at which everything was gone, or had never been, that this cache does not have. Undefined before the first list, or
   * where it is not known.
   */
  absencesSeen?(scope?: VersionScope): string | undefined;
  /**
   * What went wrong with the last list, or with a watch that the server refuses; a list that succeeds ends it. A watch that
   * broke, or that came too late, is none: that is daily life.
   */
  readonly trouble?: InformerTrouble;
  /** Adds an index; before `run` only. The same function under the same name again is no other index. */
  addIndex(name: string, index: IndexFunction<T>): void;
  /** Adds a handler. It first gets `added` (initial) for everything cached already. Returns its removal. */
  addEventHandler(handler: ResourceEventHandler<T>): () => void;
  /** Resolves once `hasSynced`; rejects with the signal's reason. */
  waitForSync(signal: AbortSignal): Promise<void>;
  /** Resolves once `hasSynced`, or once the server has answered that there is no list; rejects with the signal's reason. */
  waitUntilSettled(signal: AbortSignal): Promise<void>;
  /** Whether the cache shows the state at `resourceVersion` or a later one. */
  hasSeen(resourceVersion: string, scope?: VersionScope): boolean;
  /**
   * Resolves once the cache shows the state at `resourceVersion` or a later one; where the server turns out not to have it
   * (any more), once the cache shows what the server had at some moment after the call. Rejects with the signal's reason.
   */
  waitForResourceVersion(resourceVersion: string, signal: AbortSignal, scope?: VersionScope): Promise<void>;
  /** Lists and watches until aborted, surviving every error. Resolves on abort; a second call throws. */
  run(signal: AbortSignal): Promise<void>;
}
