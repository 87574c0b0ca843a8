import type { InformerSource } from '../../runtime/controller/controller-definition.js';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type {
  IndexFunction,
  Informer,
  PartialType,
  ResourceEventHandler,
  WholeType,
} from '@rollkeeper/client/informer';
import type { MetadataInformer } from '@rollkeeper/client/informer/informer-factory';
import { NAMESPACE_INDEX, OWNER_UID_INDEX, ObjectStore, cacheNameOf } from '@rollkeeper/client/informer';
import type { KubernetesObject, OwnerReference, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { InMemoryApi } from './in-memory-api.js';

/** Caches that show the in-memory API as of the last `refresh`. */
export class InMemoryInformers implements InformerSource {
  private readonly informers = new Map<string, InMemoryInformer<KubernetesObject>>();

  constructor(private readonly api: InMemoryApi) {}

  informerFor<T extends KubernetesObject>(type: ResourceType): InMemoryInformer<T> {
    return this.informerOf<T>(type);
  }

  partialInformerFor<T extends KubernetesObject>(type: PartialType): InMemoryInformer<T> {
    return this.informerOf<T>(type);
  }

  private informerOf<T extends KubernetesObject>(type: WholeType | PartialType): InMemoryInformer<T> {
    const name = cacheNameOf(type);
    const informer = this.informers.get(name) ?? new InMemoryInformer<KubernetesObject>(type);
    this.informers.set(name, informer);
    return informer as unknown as InMemoryInformer<T>;
  }

  metadataInformerFor(type: ResourceType): MetadataInformer {
    return { informer: this.informerFor(type), isShared: true };
  }

  /** Shows the current state everywhere, and notifies the handlers of changes. */
  refresh(): void {
    for (const informer of this.informers.values()) {
      const { keep = (object: KubernetesObject) => object } = informer.type.part ?? {};
      informer.replace(this.api.all(informer.type).map((object) => keep(object)));
    }
  }
}

/** An informer whose store is replaced manually. */
class InMemoryInformer<T extends KubernetesObject> implements Informer<T> {
  hasSynced = false;
  lastSyncedResourceVersion: string | undefined;
  private readonly store = new ObjectStore<T>();
  readonly lister = this.store.lister;
  private readonly handlers = new Set<ResourceEventHandler<T>>();

  constructor(readonly type: WholeType | PartialType) {
    this.addIndex(NAMESPACE_INDEX, ({ metadata }) => [metadata.namespace ?? '']);
    this.addIndex(OWNER_UID_INDEX, ({ metadata }) =>
      ((metadata.ownerReferences ?? []) as readonly OwnerReference[]).map(({ uid }) => uid),
    );
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.hasSynced) throw new IllegalStateError('indexes are added before the informer runs');
    this.store.addIndex(name, index);
  }

  addEventHandler(handler: ResourceEventHandler<T>): () => void {
    this.handlers.add(handler);
    for (const object of this.lister.list()) handler({ type: 'added', object, initial: true });
    return () => void this.handlers.delete(handler);
  }

  async waitForSync(): Promise<void> {}

  hasSeen(): boolean {
    return this.hasSynced;
  }

  async waitUntilSettled(): Promise<void> {}

  async waitForResourceVersion(): Promise<void> {}

  async run(): Promise<void> {}

  replace(objects: readonly T[]): void {
    const events = this.store.replace(objects, !this.hasSynced);
    this.hasSynced = true;
    for (const event of events) for (const handler of this.handlers) handler(event);
  }
}
