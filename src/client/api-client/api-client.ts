import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** The store's state that the list shows; where a watch continues. */
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last. */
  readonly continueToken?: string;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /**
   * Asks for `apiVersion`, `kind` and `metadata` alone, as `PartialObjectMetadata`; they name the object's own type. A
   * server that does not know that view answers with whole objects. @default whole objects
   */
  metadataOnly?: boolean;
}

export interface GetOptions extends ReadOptions {
  /** For example `scale`: what is read is of another kind then. @default the object itself */
  subresource?: string;
}

export interface ListOptions extends ReadOptions {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects in one page. @default no paging */
  limit?: number;
  continueToken?: string;
  /** `'0'` allows an answer from the server's cache. @default most recent */
  resourceVersion?: string;
}

export interface WatchOptions extends ReadOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Events after this state; empty: after the most recent one. */
  resourceVersion: string;
  /**
   * Begin with everything there is, as ADDED, and say by a bookmark when that is over (KEP-3157). A server that does not know
   * this answers 422, or takes no notice of it. @default false
   */
  sendInitialEvents?: boolean;
  /** After this long the server ends the watch cleanly. */
  timeoutSeconds: number;
  /** Silence longer than this (milliseconds) counts as a dead connection and fails the watch with TimeoutError. */
  idleTimeoutMs: number;
  /** Silence counts only from this age of the watch on, milliseconds. @default 0 */
  silentUntilMs?: number;
  signal: AbortSignal;
}

/** An event of a watch. Bookmarks carry nothing but a resourceVersion. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** The end of what {@link WatchOptions.sendInitialEvents} asked for. */
      readonly endsInitialEvents?: boolean;
    };

export interface WriteOptions {
  /** For example `status` or `scale`. */
  subresource?: string;
  /** Who the written fields belong to (`metadata.managedFields`). @default the first word of the user agent */
  fieldManager?: string;
  /** Of a patch of type `apply`: takes fields over from other managers in place of a 409. @default false */
  force?: boolean;
  /** The server checks and answers, and stores nothing. @default false */
  dryRun?: boolean;
  signal?: AbortSignal;
  /** See {@link ReadOptions.metadataOnly}: of the answer to a patch. */
  metadataOnly?: boolean;
  /**
   * Once aborted, no attempt starts any more (a repeat after 429 included) and the call rejects with its reason.
   * An attempt under way is let finish, because nobody would know what became of it.
   */
  guard?: AbortSignal;
  /** Called right before an attempt goes out; what it throws is what the call rejects with, and nothing is sent. */
  assertMayWrite?: () => void;
}

/** `apply` is server-side apply: the body is the wanted part of the object, and `fieldManager` is required. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** Which objects of a type, and how they are to go. */
export interface DeleteCollectionOptions extends Omit<DeleteOptions, 'preconditions'> {
  /** Absent: all namespaces, or cluster scope. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
  signal?: AbortSignal;
  /**
   * Once aborted, no attempt starts any more (a repeat after 429 included) and the call rejects with its reason.
   * An attempt under way is let finish, because nobody would know what became of it.
   */
  guard?: AbortSignal;
  /** Called right before an attempt goes out; what it throws is what the call rejects with, and nothing is sent. */
  assertMayWrite?: () => void;
}

/** What a deletion left behind: the object while finalizers or a grace period keep it, else nothing. */
export interface DeleteResult<T> {
  readonly object?: T;
}

/**
 * The Kubernetes API as everything in Rollkeeper sees it; the only way to objects.
 *
 * Every method rejects with {@link ApiStatusError} when the server refuses, and with the signal's reason when
 * aborted. Reads that fail in transport, and answers 429 and 503 with Retry-After, are tried again a few times
 * inside; writes are never repeated unless the server said that it did nothing.
 *
 * Objects keep every digit of their integers: one that no double holds is a `bigint`, see {@link Int64}.
 */
export interface ApiClient {
  get<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef, options?: GetOptions): Promise<T>;
  list<T extends KubernetesObject>(type: ResourceType, options?: ListOptions): Promise<ListPage<T>>;
  /**
   * Ends when the server ends the watch. Throws {@link ApiStatusError} for an ERROR event (410: `isExpired`), and
   * other errors for a connection that broke or fell silent.
   */
  watch<T extends KubernetesObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Creates in `object.metadata.namespace`. */
  create<T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>;
  /** Replaces; with `metadata.resourceVersion` set, only if nobody wrote in between (409 otherwise). */
  update<T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options?: WriteOptions,
  ): Promise<T>;
  delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>>;
  /** Asks for the deletion of every object of a collection; they may take their time. */
  deleteCollection(type: ResourceType, options?: DeleteCollectionOptions): Promise<void>;
  /**
   * Every resource type that the server has, for the garbage collector and the namespace controller; what can be done with
   * one is in its verbs. Cheap to ask again: a server that can say that nothing has changed does.
   */
  discover(options?: DiscoverOptions): Promise<DiscoveredResources>;
  /** Resolves when the server answers at all (`/readyz` or `/version`). */
  ping(options?: { signal?: AbortSignal }): Promise<void>;
}

export interface DiscoverOptions {
  /** @default false: of a resource in several versions, the one that the server prefers */
  readonly everyVersion?: boolean;
  readonly signal?: AbortSignal;
}

export interface DiscoveredResource extends ResourceType {
  /** `deployment`; empty or missing where the server does not say. */
  readonly singular?: string;
  /** What else kubectl calls it: `deploy`. */
  readonly shortNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Discovery as far as it got: a group that failed is named and takes nothing else with it. */
export interface DiscoveredResources {
  readonly resources: readonly DiscoveredResource[];
  readonly failedGroups: readonly { readonly groupVersion: string; readonly error: Error }[];
}
