import type {
  ApiClient,
  DeleteOptions,
  DeleteResult,
  DiscoveredResources,
  ListOptions,
  ListPage,
  PatchType,
  WatchEvent,
  WriteOptions,
} from '@rollkeeper/client/api-client/api-client';
import { ApiStatusError } from '@rollkeeper/client/api-client/api-status-error';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { applyPatch } from './in-memory-patch.js';

type WriteVerb = 'create' | 'update' | 'patch' | 'delete';

/** A write that the API is about to execute. */
export interface AttemptedWrite {
  readonly verb: WriteVerb;
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  readonly subresource?: string;
  /** The request body; absent for a deletion. */
  readonly object?: unknown;
}

/**
 * An API over a Map, to compare reconcilers with recordings. It assigns and checks UIDs and resourceVersions, and does
 * nothing else: no generation, defaults, validation, finalizers or watch. Objects are frozen: changing a cached one
 * throws.
 */
export class InMemoryApi implements ApiClient {
  /** Whether it vouches for names of people. */
  isVerifyingNames = false;
  /** Every write executed so far. */
  readonly writes: AttemptedWrite[] = [];
  private readonly objects = new Map<string, KubernetesObject>();
  private revision = 0;
  private uids = 0;

  /** @param intercept called before each write; if it throws, that is the API's answer */
  constructor(private readonly intercept: (write: AttemptedWrite) => void = () => undefined) {}

  /** Stores an object unchanged, without counting it as a write. */
  seed<T extends KubernetesObject>(type: ResourceType, object: T): T {
    return this.store(type, structuredClone(object));
  }

  async get<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef): Promise<T> {
    return this.existing<T>(type, ref);
  }

  async list<T extends KubernetesObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    if (options.fieldSelector !== undefined) {
      throw new UnsupportedError('the in-memory API has no field selectors');
    }
    const prefix = `${qualifiedResource(type)} ${options.namespace === undefined ? '' : `${options.namespace}/`}`;
    const items = [...this.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, object]) => object as T);
    const selected = items.filter(({ metadata }) => hasLabels(metadata.labels, options.labelSelector));
    return { items: selected, resourceVersion: String(this.revision) };
  }

  watch<T extends KubernetesObject>(): AsyncIterable<WatchEvent<T>> {
    throw new UnsupportedError('the in-memory API has no watch');
  }

  logs(): AsyncIterable<string> {
    throw new UnsupportedError('the in-memory API has no logs');
  }

  async exec(): Promise<never> {
    throw new UnsupportedError('nothing runs in the pods of the in-memory API');
  }

  async portForward(): Promise<never> {
    throw new UnsupportedError('nothing listens in the pods of the in-memory API');
  }

  async create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { metadata } = object;
    options.signal?.throwIfAborted();
    this.intercept({ verb: 'create', type, ref: metadata, object });
    if (this.objects.has(keyIn(type, metadata))) throw refusal(409, 'AlreadyExists', type, metadata);
    this.writes.push({ verb: 'create', type, ref: metadata, object });
    const uid = metadata.uid ?? `uid-of-created-${++this.uids}`;
    return this.store(type, { ...structuredClone(object), metadata: { ...structuredClone(metadata), uid } });
  }

  async update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const { subresource, signal } = options;
    signal?.throwIfAborted();
    this.intercept({ verb: 'update', type, ref: object.metadata, subresource, object });
    const current = this.existing<T>(type, object.metadata);
    checkPreconditions(type, current, object.metadata);
    this.writes.push({ verb: 'update', type, ref: object.metadata, subresource, object });
    return this.store(type, merged(current, structuredClone(object), subresource));
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions = {},
  ): Promise<T> {
    const { subresource, signal } = options;
    signal?.throwIfAborted();
    this.intercept({ verb: 'patch', type, ref, subresource, object: patch.body });
    const current = this.existing<T>(type, ref);
    const patched = applyPatch(current, patch) as T;
    checkPreconditions(type, current, patched.metadata);
    this.writes.push({ verb: 'patch', type, ref, subresource, object: patch.body });
    return this.store(type, merged(current, patched, subresource));
  }

  async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    options.signal?.throwIfAborted();
    this.intercept({ verb: 'delete', type, ref });
    const current = this.existing<T>(type, ref);
    checkPreconditions(type, current, options.preconditions ?? {});
    this.writes.push({ verb: 'delete', type, ref });
    this.objects.delete(keyIn(type, ref));
    this.revision++;
    return {};
  }

  async deleteCollection(): Promise<void> {
    throw new UnsupportedError('nothing recorded deletes a collection');
  }

  async discover(): Promise<DiscoveredResources> {
    return { resources: [], failedGroups: [] };
  }

  async ping(): Promise<void> {}

  async verifiesNames(): Promise<boolean> {
    return this.isVerifyingNames;
  }

  /** All objects of a type, ordered by name. */
  all<T extends KubernetesObject>(type: ResourceType): T[] {
    const prefix = `${qualifiedResource(type)} `;
    const found = [...this.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, object]) => object as T);
    return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  private existing<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef): T {
    const object = this.objects.get(keyIn(type, ref));
    if (!object) throw refusal(404, 'NotFound', type, ref);
    return object as T;
  }

  private store<T extends KubernetesObject>(type: ResourceType, object: T): T {
    const resourceVersion = String(++this.revision);
    const stored = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion } });
    this.objects.set(keyIn(type, object.metadata), stored);
    return stored;
  }
}

/** Supports only `key=value` selectors, separated by commas. */
function hasLabels(labels: Record<string, string> = {}, selector = ''): boolean {
  return selector
    .split(',')
    .filter((part) => part !== '')
    .every((part) => {
      const [, key, value] = /^([^=!]+)=([^=]*)$/.exec(part) ?? [];
      if (key === undefined) throw new UnsupportedError(`the in-memory API has no selector like "${part}"`);
      return labels[key] === value;
    });
}

function keyIn(type: ResourceType, ref: ObjectRef): string {
  return `${qualifiedResource(type)} ${keyOf(ref)}`;
}

/** As in Kubernetes for Deployments and ReplicaSets: a status write changes the status and the annotations. */
function merged<T extends KubernetesObject>(current: T, sent: T, subresource: string | undefined): T {
  const { status } = current as { status?: unknown };
  if (subresource === undefined) return { ...sent, ...(status === undefined ? {} : { status }) };
  if (subresource === 'resize') return { ...current, spec: (sent as { spec?: unknown }).spec };
  const metadata = { ...current.metadata, annotations: sent.metadata.annotations };
  return { ...current, metadata, status: (sent as { status?: unknown }).status };
}

function checkPreconditions(
  type: ResourceType,
  current: KubernetesObject,
  wanted: { uid?: string; resourceVersion?: string },
): void {
  const { uid, resourceVersion } = current.metadata;
  const isStale = wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion;
  const isAnother = wanted.uid !== undefined && wanted.uid !== uid;
  if (isStale || isAnother) throw refusal(409, 'Conflict', type, current.metadata);
}

function refusal(code: number, reason: string, type: ResourceType, ref: ObjectRef): ApiStatusError {
  const words: Record<string, string> = {
    NotFound: 'not found',
    AlreadyExists: 'already exists',
    Conflict: 'was changed meanwhile',
  };
  const message = `${qualifiedResource(type)} "${ref.name}" ${words[reason] ?? reason}`;
  return new ApiStatusError({ code, reason, message });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
