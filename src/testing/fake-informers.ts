import type { InformerSource } from '../controller/index.js';
import type { IndexFunction, Informer, ResourceEvent } from '../informer/index.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX, ObjectStore } from '../informer/index.js';
import type { KubernetesObject, ResourceType, UnstructuredObject } from '../kubernetes/index.js';
import { newerResourceVersion, qualifiedResource } from '../kubernetes/index.js';
import type { ClusterEvent, FakeCluster } from './fake-cluster.js';

/** Informers that see a {@link FakeCluster} without delay, or, while paused, not at all. */
export class FakeInformers implements InformerSource {
  private readonly informers = new Map<string, FakeInformer>();
  private readonly held: (() => void)[] = [];
  private paused = false;

  constructor(private readonly cluster: FakeCluster) {
    cluster.onEvent((type, event) => {
      const informer = this.informers.get(qualifiedResource(type));
      if (!informer) return;
      if (this.paused) this.held.push(() => informer.apply(event));
      else informer.apply(event);
    });
  }

  informerFor<T extends KubernetesObject>(type: ResourceType): Informer<T> {
    const name = qualifiedResource(type);
    let informer = this.informers.get(name);
    if (!informer) {
      informer = new FakeInformer(type);
      for (const object of this.cluster.all<UnstructuredObject>(type))
        informer.apply({ type: 'ADDED', object });
      this.informers.set(name, informer);
    }
    return informer as unknown as Informer<T>;
  }

  /** From now on the caches stand still. */
  pause(): void {
    this.paused = true;
  }

  /** The caches catch up. */
  resume(): void {
    this.paused = false;
    for (const apply of this.held.splice(0)) apply();
  }
}

class FakeInformer implements Informer<UnstructuredObject> {
  readonly hasSynced = true;
  lastSyncedResourceVersion: string | undefined = undefined;
  newestDeletion: string | undefined = undefined;
  private readonly store = new ObjectStore<UnstructuredObject>();
  readonly lister = this.store.lister;
  private readonly handlers = new Set<(event: ResourceEvent<UnstructuredObject>) => void>();

  constructor(readonly type: ResourceType) {
    this.addIndex(OWNER_UID_INDEX, (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid));
    this.addIndex(NAMESPACE_INDEX, (object) => [object.metadata.namespace ?? '']);
  }

  addIndex(name: string, index: IndexFunction<UnstructuredObject>): void {
    this.store.addIndex(name, index);
  }

  addEventHandler(handler: (event: ResourceEvent<UnstructuredObject>) => void): () => void {
    for (const object of this.lister.list()) handler({ type: 'added', object, initial: true });
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  async waitForSync(): Promise<void> {}

  async waitForResourceVersion(): Promise<void> {}

  async run(): Promise<void> {}

  apply(event: ClusterEvent): void {
    const object = deepFreeze(structuredClone(event.object));
    const { resourceVersion } = object.metadata;
    this.lastSyncedResourceVersion = newerResourceVersion(this.lastSyncedResourceVersion, resourceVersion);
    const isDeletion = event.type === 'DELETED';
    if (isDeletion) this.newestDeletion = this.lastSyncedResourceVersion;
    const events = isDeletion ? this.store.remove(object) : this.store.upsert(object);
    for (const each of events) for (const handler of this.handlers) handler(each);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
