import type { InformerSource } from '../controller/index.js';
import { IllegalStateError } from '../errors/index.js';
import type { IndexFunction, Informer, Lister, ResourceEvent } from '../informer/index.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from '../informer/index.js';
import type {
  DeepReadonly,
  KubernetesObject,
  ResourceType,
  UnstructuredObject,
} from '../kubernetes/index.js';
import {
  compareResourceVersions,
  keyOf,
  newerResourceVersion,
  qualifiedResource,
} from '../kubernetes/index.js';
import type { ClusterEvent, FakeCluster } from './fake-cluster.js';

type Item = DeepReadonly<UnstructuredObject>;

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
  private readonly objects = new Map<string, Item>();
  private readonly handlers = new Set<(event: ResourceEvent<UnstructuredObject>) => void>();
  private readonly indexes = new Map<string, IndexFunction<UnstructuredObject>>([
    [OWNER_UID_INDEX, (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid)],
    [NAMESPACE_INDEX, (object) => [object.metadata.namespace ?? '']],
  ]);

  constructor(readonly type: ResourceType) {}

  readonly lister: Lister<UnstructuredObject> = {
    get: (key) => this.objects.get(key),
    list: () => [...this.objects.values()],
    byIndex: (name, value) => {
      const index = this.indexes.get(name);
      if (!index) throw new IllegalStateError(`no index ${name}`);
      return [...this.objects.values()].filter((object) => index(object).includes(value));
    },
  };

  addIndex(name: string, index: IndexFunction<UnstructuredObject>): void {
    this.indexes.set(name, index);
  }

  addEventHandler(handler: (event: ResourceEvent<UnstructuredObject>) => void): () => void {
    for (const object of this.objects.values()) handler({ type: 'added', object, initial: true });
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  async waitForSync(): Promise<void> {}

  hasSeen(resourceVersion: string): boolean {
    return (compareResourceVersions(this.lastSyncedResourceVersion ?? '0', resourceVersion) ?? 0) >= 0;
  }

  async waitForResourceVersion(): Promise<void> {}

  async run(): Promise<void> {}

  apply(event: ClusterEvent): void {
    const object = deepFreeze(structuredClone(event.object)) as Item;
    const key = keyOf(object.metadata);
    const old = this.objects.get(key);
    this.lastSyncedResourceVersion = newerResourceVersion(
      this.lastSyncedResourceVersion,
      object.metadata.resourceVersion,
    );
    if (event.type === 'DELETED') {
      this.objects.delete(key);
      this.newestDeletion = this.lastSyncedResourceVersion;
      this.emit({ type: 'deleted', object, finalStateUnknown: false });
      return;
    }
    this.objects.set(key, object);
    this.emit(old ? { type: 'modified', object, old } : { type: 'added', object, initial: false });
  }

  private emit(event: ResourceEvent<UnstructuredObject>): void {
    for (const handler of this.handlers) handler(event);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
