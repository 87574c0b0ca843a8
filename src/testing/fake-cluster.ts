import { randomUUID } from 'node:crypto';
import type {
  ApiClient,
  DeleteCollectionOptions,
  DeleteOptions,
  DeleteResult,
  DiscoveredResource,
  DiscoveredResources,
  ListOptions,
  ListPage,
  PatchType,
  ReadOptions,
  WatchEvent,
  WriteOptions,
} from '@rollkeeper/client/api-client';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { FakeClock, toRfc3339 } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type {
  KubernetesObject,
  ObjectRef,
  ResourceType,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Event,
  Lease,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ServiceAccount,
  keyOf,
  mergePatch,
  qualifiedResource,
  stringifyJson,
  toDouble,
} from '@rollkeeper/machinery/kubernetes';

export type ClusterEvent = Exclude<WatchEvent<UnstructuredObject>, { type: 'BOOKMARK' }>;

/** One call that reached the fake, for assertions on the number of requests. */
export interface ClusterRequest {
  readonly verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
  readonly type: ResourceType;
  /** Key of the object, or the namespace of a collection. */
  readonly key: string;
  readonly subresource?: string;
  readonly deleteOptions?: DeleteOptions;
  readonly metadataOnly?: boolean;
}

/**
 * A Kubernetes API in memory for controller specs: optimistic concurrency, finalizers, propagation policies, grace
 * periods of bound pods, terminating namespaces and the binding subresource. No validation, no watch (informers are fed
 * by {@link onEvent}).
 */
export class FakeCluster implements ApiClient {
  readonly requests: ClusterRequest[] = [];
  /** Return an error to fail a request. */
  intercept: (request: ClusterRequest) => Error | undefined = () => undefined;
  /** The server's resource types. */
  discovered: DiscoveredResource[] = served(
    Deployment,
    Event,
    Lease,
    Namespace,
    Node,
    Pod,
    ReplicaSet,
    ServiceAccount,
  );
  /** Whether it vouches for names of people. */
  isVerifyingNames = false;
  failedGroups: { groupVersion: string; error: Error }[] = [];
  private revision = 100;
  private readonly stores = new Map<string, Map<string, UnstructuredObject>>();
  private readonly listeners = new Set<(type: ResourceType, event: ClusterEvent) => void>();

  constructor(private readonly clock: Clock = new FakeClock()) {}

  /** Adds an object without an event; fills in uid and resourceVersion. */
  seed<T extends KubernetesObject>(type: ResourceType, object: T): T {
    const stored = structuredClone(object) as unknown as UnstructuredObject;
    stored.metadata.uid ??= randomUUID();
    stored.metadata.creationTimestamp ??= toRfc3339(this.clock.now());
    this.put(type, stored, 'ADDED');
    return structuredClone(stored) as unknown as T;
  }

  /** The stored object, for assertions. */
  peek<T extends KubernetesObject>(type: ResourceType, key: string): T | undefined {
    return structuredClone(this.store(type).get(key)) as T | undefined;
  }

  all<T extends KubernetesObject>(type: ResourceType): T[] {
    return structuredClone([...this.store(type).values()]) as unknown as T[];
  }

  /** Removes an object without any checks, like an edit in etcd. */
  vanish(type: ResourceType, key: string): void {
    const object = this.store(type).get(key);
    if (object) this.remove(type, object);
  }

  onEvent(listener: (type: ResourceType, event: ClusterEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  count(verb: ClusterRequest['verb'], type?: ResourceType): number {
    return this.requests.filter((request) => request.verb === verb && (!type || sameType(request.type, type)))
      .length;
  }

  async get<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    { metadataOnly = false }: ReadOptions = {},
  ): Promise<T> {
    this.note({ verb: 'get', type, key: keyOf(ref), metadataOnly });
    return view<T>(this.existing(type, ref), metadataOnly);
  }

  async list<T extends KubernetesObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const { metadataOnly = false } = options;
    this.note({ verb: 'list', type, key: options.namespace ?? '', metadataOnly });
    const all = [...this.store(type).values()].filter(
      (object) => options.namespace === undefined || object.metadata.namespace === options.namespace,
    );
    const start = Number(options.continueToken ?? 0);
    const end = start + (options.limit ?? all.length);
    return {
      items: all.slice(start, end).map((object) => view<T>(object, metadataOnly)),
      resourceVersion: String(this.revision),
      ...(end < all.length ? { continueToken: String(end) } : {}),
    };
  }

  watch<T extends KubernetesObject>(): AsyncIterable<WatchEvent<T>> {
    throw new UnsupportedError('FakeCluster has no watch; use fakeInformers');
  }

  /** Pods of a fake say nothing. */
  async *logs(): AsyncGenerator<string, void> {}

  async exec(): Promise<never> {
    throw new UnsupportedError('nothing runs in the pods of a FakeCluster; use startTestCluster');
  }

  async portForward(): Promise<never> {
    throw new UnsupportedError('nothing listens in the pods of a FakeCluster');
  }

  async create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const key = keyOf(object.metadata);
    this.note({ verb: 'create', type, key, subresource: options.subresource });
    if (options.subresource === 'binding') return this.bind(type, object);
    if (this.store(type).has(key)) throw refusal(409, 'AlreadyExists', `${key} already exists`);
    const stored = structuredClone(object) as unknown as UnstructuredObject;
    stored.metadata.uid = randomUUID();
    stored.metadata.creationTimestamp = toRfc3339(this.clock.now());
    this.put(type, stored, 'ADDED');
    return structuredClone(stored) as unknown as T;
  }

  async update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    this.note({ verb: 'update', type, key: keyOf(object.metadata), subresource: options.subresource });
    return this.replace(type, object as unknown as UnstructuredObject, options.subresource) as unknown as T;
  }

  async patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: unknown },
    options: WriteOptions = {},
  ): Promise<T> {
    this.note({ verb: 'patch', type, key: keyOf(ref), subresource: options.subresource });
    if (patch.type !== 'merge') throw new UnsupportedError('FakeCluster has merge patches only');
    const current = structuredClone(this.existing(type, ref));
    const uid = current.metadata.uid;
    delete current.metadata.resourceVersion;
    const merged = mergePatch(structuredClone(current), structuredClone(patch.body)) as UnstructuredObject;
    if (merged.metadata.uid !== uid)
      throw refusal(409, 'Conflict', 'Precondition failed: UID in object meta');
    return this.replace(type, merged, options.subresource) as unknown as T;
  }

  async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<T>> {
    this.note({ verb: 'delete', type, key: keyOf(ref), deleteOptions: options });
    const object = this.beginDeletion(type, ref, options);
    return object ? { object: object as unknown as T } : {};
  }

  async deleteCollection(type: ResourceType, options: DeleteCollectionOptions = {}): Promise<void> {
    const { namespace } = options;
    this.note({ verb: 'deletecollection', type, key: namespace ?? '', deleteOptions: options });
    for (const { metadata } of [...this.store(type).values()])
      if (namespace === undefined || metadata.namespace === namespace)
        this.beginDeletion(type, metadata, options);
  }

  /** The terminating object if it stays for a while. */
  private beginDeletion(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteOptions,
  ): UnstructuredObject | undefined {
    const object = structuredClone(this.existing(type, ref));
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== object.metadata.uid) throw refusal(409, 'Conflict', 'uid differs');
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', 'the resourceVersion differs');
    }
    const gracePeriod = this.graceOf(type, object, options);
    setPropagation(object, options.propagationPolicy);
    if (!gracePeriod && !object.metadata.finalizers?.length && !specFinalizers(object).length) {
      this.remove(type, object);
      return undefined;
    }
    if (!object.metadata.deletionTimestamp || object.metadata.deletionGracePeriodSeconds !== gracePeriod) {
      object.metadata.deletionTimestamp ??= toRfc3339(this.clock.now() + gracePeriod * 1000);
      object.metadata.deletionGracePeriodSeconds = gracePeriod;
    }
    if (specFinalizers(object).length) object.status = { ...(object.status as object), phase: 'Terminating' };
    this.put(type, object, 'MODIFIED');
    return structuredClone(object);
  }

  async discover(): Promise<DiscoveredResources> {
    return { resources: this.discovered, failedGroups: this.failedGroups };
  }

  async ping(): Promise<void> {}

  async verifiesNames(): Promise<boolean> {
    return this.isVerifyingNames;
  }

  private bind<T extends KubernetesObject>(type: ResourceType, binding: T): T {
    const pod = structuredClone(this.existing(type, binding.metadata));
    const spec = pod.spec as { nodeName?: string };
    if (spec.nodeName) throw refusal(409, 'Conflict', 'pod is already assigned to node');
    spec.nodeName = (binding as unknown as { target: { name: string } }).target.name;
    this.put(type, pod, 'MODIFIED');
    return binding;
  }

  private replace(type: ResourceType, next: UnstructuredObject, subresource?: string): UnstructuredObject {
    const current = this.existing(type, next.metadata);
    const expected = next.metadata.resourceVersion;
    if (expected !== undefined && expected !== current.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', 'the object has been modified');
    }
    const stored = structuredClone(subresource === 'status' ? { ...current, status: next.status } : next);
    stored.metadata.resourceVersion = current.metadata.resourceVersion;
    if (stringifyJson(stored) === stringifyJson(current)) return structuredClone(current);
    const done = !stored.metadata.finalizers?.length && !specFinalizers(stored).length;
    const graceful = (stored.metadata.deletionGracePeriodSeconds ?? 0) > 0;
    if (stored.metadata.deletionTimestamp && done && !graceful) this.remove(type, stored);
    else this.put(type, stored, 'MODIFIED');
    return structuredClone(stored);
  }

  private graceOf(type: ResourceType, object: UnstructuredObject, options: DeleteOptions): number {
    if (type.resource !== 'pods' || !(object.spec as { nodeName?: string } | undefined)?.nodeName) return 0;
    return options.gracePeriodSeconds ?? toDouble(object.metadata.deletionGracePeriodSeconds ?? 30);
  }

  private put(type: ResourceType, object: UnstructuredObject, event: 'ADDED' | 'MODIFIED'): void {
    object.metadata.resourceVersion = String(++this.revision);
    this.store(type).set(keyOf(object.metadata), object);
    this.emit(type, { type: event, object: structuredClone(object) });
  }

  private remove(type: ResourceType, object: UnstructuredObject): void {
    this.store(type).delete(keyOf(object.metadata));
    const last = structuredClone(object);
    last.metadata.resourceVersion = String(++this.revision);
    this.emit(type, { type: 'DELETED', object: last });
  }

  private emit(type: ResourceType, event: ClusterEvent): void {
    for (const listener of this.listeners) listener(type, event);
  }

  private existing(type: ResourceType, ref: ObjectRef): UnstructuredObject {
    const object = this.store(type).get(keyOf(ref));
    if (!object) {
      const message = `${type.resource} "${ref.name}" not found`;
      throw new ApiStatusError({ code: 404, reason: 'NotFound', message, details: { name: ref.name } });
    }
    return object;
  }

  private store(type: ResourceType): Map<string, UnstructuredObject> {
    const name = qualifiedResource(type);
    const store = this.stores.get(name) ?? new Map<string, UnstructuredObject>();
    this.stores.set(name, store);
    return store;
  }

  private note(request: ClusterRequest): void {
    this.requests.push(request);
    const failure = this.intercept(request);
    if (failure) throw failure;
  }
}

/** An error answer of the API server. */
export function refusal(code: number, reason: string, message: string): ApiStatusError {
  return new ApiStatusError({ code, reason, message });
}

/** The types in discovery's form, with every verb. */
export function served(...types: readonly ResourceType[]): DiscoveredResource[] {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  return types.map((type) => ({ ...type, verbs }));
}

/** A copy of the object in the requested representation. */
function view<T>(object: UnstructuredObject, metadataOnly: boolean): T {
  const { apiVersion, kind, metadata } = object;
  return structuredClone(metadataOnly ? { apiVersion, kind, metadata } : object) as unknown as T;
}

function sameType(a: ResourceType, b: ResourceType): boolean {
  return qualifiedResource(a) === qualifiedResource(b);
}

function specFinalizers(object: UnstructuredObject): readonly string[] {
  return object.kind === 'Namespace'
    ? ((object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [])
    : [];
}

/** Applies a propagation policy: the finalizers `orphan` and `foregroundDeletion`. */
function setPropagation(object: UnstructuredObject, policy: DeleteOptions['propagationPolicy']): void {
  if (policy === undefined) return;
  const kept = (object.metadata.finalizers ?? []).filter(
    (finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion',
  );
  if (policy === 'Orphan') kept.push('orphan');
  if (policy === 'Foreground') kept.push('foregroundDeletion');
  object.metadata.finalizers = kept;
}
