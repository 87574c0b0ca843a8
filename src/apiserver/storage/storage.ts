import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** The address of an object in the store. `resource` is the qualified resource, `deployments.apps`. */
export interface StorageKey {
  readonly resource: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * A state of the store: grows by one with each write, over all resources, and further ahead when the store begins a new
 * life (restart, failover, restore). Never handed out twice. Decimal, the objects' resourceVersion.
 */
export type Revision = number;

/** The JSON of an object as the store has it, with its resourceVersion: spares making it again from the object. */
export interface StoredJson {
  whole(): string;
  /** Without `apiVersion` and `kind`, which a list says once for all its items. */
  asItem(): string;
}

/** A state of an object: `metadata.resourceVersion` is its revision. The holder may keep and change it. */
export interface ObjectState<T extends KubernetesObject = UnstructuredObject> {
  /** Parsed when it is first looked at. @throws StorageUnreadableError for what is none */
  readonly object: T;
  /** The stored state, independent of later changes to `object`; absent if it is not stored, or in another form. */
  readonly json?: StoredJson;
}

/** An object as stored. */
export interface StoredObject<T extends KubernetesObject = UnstructuredObject> extends ObjectState<T> {
  readonly revision: Revision;
  /** The key under which it was found, in lists: the object itself may not be able to say. */
  readonly key?: StorageKey | undefined;
}

/** An object and where it belongs, as it goes from one store into another. */
export interface StorageRecord {
  readonly key: StorageKey;
  readonly object: KubernetesObject;
}

export interface StorageListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** The maximum number of objects. @default all */
  readonly limit?: number;
  /** Ends the list once the found objects have this many characters of JSON, or a few objects later. @default no bound */
  readonly maxTextLength?: number;
  /**
   * The end of the page before. The pages of one list show one state: the revision of the first page. A cursor from
   * outside the namespace does not widen the list: one before it begins with the namespace, one behind it finds
   * nothing.
   * @throws StorageExpiredError when that state no longer exists
   */
  readonly continueFrom?: StorageCursor;
}

/** The object and the state of the store after which a list continues. */
export interface StorageCursor {
  readonly revision: Revision;
  readonly namespace: string;
  readonly name: string;
}

export interface StorageList {
  /** Ordered by namespace, then name, bytewise. */
  readonly items: readonly StoredObject[];
  readonly revision: Revision;
  readonly next?: StorageCursor;
  /** How many objects are behind `next`. */
  readonly remaining: number;
}

/** `object` of a deletion is the last state, with the deletion's revision. `previous` serves selectors. */
export type StorageEvent =
  | {
      readonly type: 'created';
      readonly key: StorageKey;
      readonly revision: Revision;
      readonly object: UnstructuredObject;
    }
  | {
      readonly type: 'updated' | 'deleted';
      readonly key: StorageKey;
      readonly revision: Revision;
      readonly object: UnstructuredObject;
      readonly previous: UnstructuredObject;
    }
  /** Everything up to `revision` has been delivered. */
  | { readonly type: 'progress'; readonly revision: Revision };

export interface StorageWatchOptions {
  readonly resource: string;
  readonly namespace?: string;
  /** Events with a greater revision, in order, without a gap. @throws StorageExpiredError when they no longer exist */
  readonly after: Revision;
  /** Deliver `progress` at least this often, milliseconds. @default never */
  readonly progressIntervalMs?: number;
  /**
   * Reserves room, in characters, before events are read into memory for this watch alone, because it is too far behind to
   * share them with others. Released with the next ones. @default there is always room
   */
  readonly reserve?: (length: number) => Promise<StorageRoom>;
}

/** The length of a store's secret. */
export const SECRET_BYTES = 32;

/** A grant of memory. */
export interface StorageRoom {
  release(): void;
}

/**
 * The store in which the API server keeps its objects. Objects handed out are the caller's own; objects handed in are
 * not kept, and what their write resolves with shares all but the metadata with them. Integers keep every digit,
 * `bigint` included.
 *
 * Guarantees: each write is atomic (check, revision, object, watch log); revisions grow by the order of the
 * writes; a write that resolved is seen by every later read and watch. Errors of the link to the store reject
 * with StorageUnavailableError: the write may or may not have happened. An object of more than 1.5 Mi characters is
 * refused with StorageTooLargeError.
 */
export interface Storage {
  /** @throws StorageExistsError */
  create<T extends KubernetesObject>(key: StorageKey, object: T): Promise<StoredObject<T>>;
  get(key: StorageKey): Promise<StoredObject | undefined>;
  /**
   * The newest state known to this process, without asking the store: from its own writes, reads, or the watch log. May be
   * outdated, or of an object that has been deleted by now; `undefined` means nothing. Good for an attempt that the store
   * verifies (`update`, `delete`), never for an answer.
   */
  recall(key: StorageKey): StoredObject | undefined;
  /**
   * Replaces what is at `expectedRevision`.
   * @throws StorageNotFoundError
   * @throws StorageConflictError when it is at another revision (carries the current object)
   */
  update<T extends KubernetesObject>(
    key: StorageKey,
    object: T,
    expectedRevision: Revision,
  ): Promise<StoredObject<T>>;
  /**
   * Removes what is at `expectedRevision`; resolves with its last state at the deletion's revision.
   * @throws StorageNotFoundError
   * @throws StorageConflictError
   */
  delete(key: StorageKey, expectedRevision: Revision): Promise<StoredObject>;
  list(resource: string, options?: StorageListOptions): Promise<StorageList>;
  /**
   * The events, as they become known: several at once if several writes came together, at least one. Ends without an
   * error when `signal` aborts; a reader that is too slow is ended with StorageExpiredError.
   */
  watch(options: StorageWatchOptions, signal: AbortSignal): AsyncIterable<readonly StorageEvent[]>;
  currentRevision(): Promise<Revision>;
  /** The resources that have objects at `revision`, and no other does. */
  resources(): Promise<{ readonly resources: readonly string[]; readonly revision: Revision }>;
  /**
   * Replaces all content of the store by `records`, atomically: no reader sees a part of it. Each key occurs once.
   * Every object gets a revision beyond all issued ones; earlier watches and cursors end as expired. Rejects with the
   * error of `records`, leaving the store unchanged. Resolves with the revision of the store.
   */
  replaceAll(records: AsyncIterable<StorageRecord>): Promise<Revision>;
  /** Forgets the watch log up to `revision`; older watches and cursors answer StorageExpiredError. */
  compact(revision: Revision): Promise<void>;
  /** Connects, and follows the watch log until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * {@link SECRET_BYTES} random bytes that belong to the store: the same for all processes that serve it, and after a restart. They sign what
   * clients hand back, so no client may see them.
   */
  secret(): Promise<Buffer>;
  /** Rejects when the store does not answer. */
  ping(): Promise<void>;
  /** Rejects when the store does not answer, or refuses writes, with its reason. Writes nothing. */
  assertWritable(): Promise<void>;
}
