import type { Duplex } from 'node:stream';
import type { ObjectShard } from './object-shard.js';
import type {
  KubernetesObject,
  ObjectRef,
  ResourceType,
  TypedResource,
} from '@rollkeeper/machinery/kubernetes';

/** The part of a container's log to read, as `kubectl logs` has it. */
export interface LogOptions {
  /** @default the pod's only one */
  container?: string;
  /** Stream the log until the container ends. @default false */
  follow?: boolean;
  /** Reads the log of the container's life before this one. @default false */
  previous?: boolean;
  timestamps?: boolean;
  sinceSeconds?: number;
  /** Number of lines, counted from the end of the log. @default all */
  tailLines?: number;
  signal?: AbortSignal;
}

/** How a command in a container is run, as `kubectl exec` does it. */
export interface ExecOptions {
  /** @default the pod's only one */
  container?: string;
  /** The input of the command; it ends where this ends. @default nothing */
  stdin?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** With a terminal, on which standard error is part of standard output. @default false */
  tty?: boolean;
  /** Called with each piece of standard output. @default it is collected in the result */
  onStdout?: (chunk: Uint8Array) => void;
  /** Called with each piece of standard error. @default it is collected in the result */
  onStderr?: (chunk: Uint8Array) => void;
  /** Ends the connection; most commands end with it. */
  signal?: AbortSignal;
  /** See {@link WriteOptions}: checked before it starts. */
  guard?: AbortSignal;
  /** See {@link WriteOptions}: called before it starts. */
  assertMayWrite?: () => void;
}

/** How a command has ended. */
export interface ExecResult {
  /** 0: well. Anything else is a result, not an error. */
  readonly exitCode: number;
  /** Empty if `onStdout` has taken it. */
  readonly stdout: string;
  /** Empty if `onStderr` has taken it. */
  readonly stderr: string;
}

/** A connection to a port of a pod. */
export interface PortForwardOptions extends Pick<ExecOptions, 'guard' | 'assertMayWrite'> {
  /** Ends the connection. */
  signal?: AbortSignal;
}

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** The resourceVersion of the list; start a watch from here. */
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last page. */
  readonly continueToken?: string;
  /**
   * Whether the server has selected the shard; from one that does not know shards, the items of others were left out here. Undefined
   * without a shard, and for metadata alone, with which servers do not say it.
   */
  readonly isShardSelected?: boolean;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /**
   * Requests only `apiVersion`, `kind` and `metadata`, as `PartialObjectMetadata`; apiVersion and kind are those of the
   * object itself. A server without that representation returns whole objects. @default whole objects
   */
  metadataOnly?: boolean;
}

export interface GetOptions extends ReadOptions {
  /** For example `scale`, which returns another kind. @default the object itself */
  subresource?: string;
  /** The query of a subresource. @default nothing */
  query?: Readonly<Record<string, string | undefined>>;
}

/** The selection of a list, and how it is read. */
export interface ListOptions extends ReadOptions {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Only its objects, whether the server selects them or not. @default all */
  shard?: ObjectShard;
  /** Objects per page. @default no paging */
  limit?: number;
  continueToken?: string;
  /** `'0'` allows an answer from the server's cache. @default most recent */
  resourceVersion?: string;
}

/** The selection of a watch, and its beginning. */
export interface WatchOptions extends ReadOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Only its objects, whether the server selects them or not. @default all */
  shard?: ObjectShard;
  /** Watch for changes after this version; empty: after the most recent one. */
  resourceVersion: string;
  /**
   * Start with all existing objects as ADDED, followed by a bookmark that marks their end (KEP-3157). A server without
   * this feature answers 422 or ignores it. @default false
   */
  sendInitialEvents?: boolean;
  /** The server ends the watch after this time. */
  timeoutSeconds: number;
  /** Silence longer than this (milliseconds) counts as a dead connection and fails the watch with TimeoutError. */
  idleTimeoutMs: number;
  /** Silence before the watch has this age, milliseconds, does not count. @default 0 */
  silentUntilMs?: number;
  signal: AbortSignal;
}

/** An event of a watch. A bookmark only carries a resourceVersion. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** Marks the end of the initial events requested by {@link WatchOptions.sendInitialEvents}. */
      readonly endsInitialEvents?: boolean;
    };

/** The options of creations, updates and patches. */
export interface WriteOptions {
  /** For example `status` or `scale`. */
  subresource?: string;
  /** Owner of the written fields (`metadata.managedFields`). @default the first word of the user agent */
  fieldManager?: string;
  /** For a patch of type `apply`: takes over fields of other managers instead of failing with 409. @default false */
  force?: boolean;
  /** Whether a field that the kind does not know fails the write. @default that of the server, which warns */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** The server validates and answers, but stores nothing. @default false */
  dryRun?: boolean;
  signal?: AbortSignal;
  /** See {@link ReadOptions.metadataOnly}; applies to the answer of a patch. */
  metadataOnly?: boolean;
  /**
   * Once aborted, no further attempt starts (including a retry after 429) and the call rejects with its reason. An
   * attempt in flight is allowed to finish, because its outcome would otherwise be unknown.
   */
  guard?: AbortSignal;
  /** Called right before an attempt is sent. If it throws, nothing is sent and the call rejects with that error. */
  assertMayWrite?: () => void;
}

/** `apply` is server-side apply: the body is a partial object, and `fieldManager` is required. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** Selects objects of a type for deletion, and how to delete them. */
export interface DeleteCollectionOptions extends Omit<DeleteOptions, 'preconditions'> {
  /** Absent: all namespaces, or cluster scope. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** The options of a deletion; names are those of the API. */
export interface DeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
  signal?: AbortSignal;
  /**
   * Once aborted, no further attempt starts (including a retry after 429) and the call rejects with its reason. An
   * attempt in flight is allowed to finish, because its outcome would otherwise be unknown.
   */
  guard?: AbortSignal;
  /** Called right before an attempt is sent. If it throws, nothing is sent and the call rejects with that error. */
  assertMayWrite?: () => void;
}

/** The outcome of a deletion: the object if finalizers or a grace period keep it, otherwise nothing. */
export interface DeleteResult<T> {
  readonly object?: T;
}

/**
 * The Kubernetes API as used by all of Rollkeeper; the only access to objects.
 *
 * Every method rejects with {@link ApiStatusError} if the server refuses, and with the signal's reason when aborted.
 * Reads that fail in transport, and answers 429 and 503 with Retry-After, are retried a few times internally. Writes
 * are only retried if the server said that it did nothing.
 *
 * Integers in objects are exact: one that a double cannot hold is a `bigint`, see {@link Int64}.
 */
export interface ApiClient {
  get<T extends KubernetesObject>(type: TypedResource<T>, ref: ObjectRef, options?: GetOptions): Promise<T>;
  list<T extends KubernetesObject>(type: TypedResource<T>, options?: ListOptions): Promise<ListPage<T>>;
  /**
   * Ends when the server ends the watch. Throws {@link ApiStatusError} for an ERROR event (410: `isExpired`), and other
   * errors if the connection broke or fell silent.
   */
  watch<T extends KubernetesObject>(
    type: TypedResource<T>,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>;
  /** Creates in `object.metadata.namespace`. */
  create<T extends KubernetesObject>(type: TypedResource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Replaces the object; with `metadata.resourceVersion` set, only if it has not changed since (409 otherwise). */
  update<T extends KubernetesObject>(type: TypedResource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubernetesObject>(
    type: TypedResource<T>,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options?: WriteOptions,
  ): Promise<T>;
  delete<T extends KubernetesObject>(
    type: TypedResource<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<DeleteResult<T>>;
  /** Requests the deletion of every object of a collection; they may take their time. */
  deleteCollection(type: ResourceType, options?: DeleteCollectionOptions): Promise<void>;
  /** The lines of a container's log. Leaving early closes the connection. */
  logs(pod: ObjectRef, options?: LogOptions): AsyncIterable<string>;
  /**
   * Runs a command in a container and resolves with its end. Over WebSocket (`v5.channel.k8s.io`, Kubernetes 1.30 and newer).
   * @throws ApiStatusError if the server refuses, or the command cannot be run; ApiConnectionError if the connection ends before it
   */
  exec(pod: ObjectRef, command: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /**
   * One connection to a port of a pod; `forwardPort` makes a port of this machine of it. The protocol has no end of one direction alone: the
   * pod does not see that the stream has been ended, only that it was destroyed.
   * @throws ApiStatusError if the server refuses. What fails later (nothing listens there, say) is an error of the stream
   */
  portForward(pod: ObjectRef, port: number, options?: PortForwardOptions): Promise<Duplex>;
  /**
   * Every resource type of the server, for the garbage collector and the namespace controller; its verbs say what can
   * be done with it. Cheap to repeat: the server can answer that nothing has changed.
   */
  discover(options?: DiscoverOptions): Promise<DiscoveredResources>;
  /** Resolves if the server answers at all (`/readyz` or `/version`). */
  ping(options?: { signal?: AbortSignal }): Promise<void>;
  /**
   * Whether the server vouches for the names of people in annotations of Rollkeeper: it adds the authenticated user, as that of
   * `rollkeeper up` does. False where it does not say so. Asked of the server once.
   */
  verifiesNames(options?: { signal?: AbortSignal }): Promise<boolean>;
}

/** The options of {@link ApiClient.discover}. */
export interface DiscoverOptions {
  /** @default false: for a resource in several versions, only the server's preferred one */
  readonly everyVersion?: boolean;
  readonly signal?: AbortSignal;
}

/** A resource that the server has. */
export interface DiscoveredResource extends ResourceType {
  /** `deployment`; empty or missing if the server does not provide it. */
  readonly singular?: string;
  /** Short names in kubectl: `deploy`. */
  readonly shortNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The result of discovery: a group that failed is listed and does not affect the others. */
export interface DiscoveredResources {
  readonly resources: readonly DiscoveredResource[];
  readonly failedGroups: readonly { readonly groupVersion: string; readonly error: Error }[];
}
