import type { InformerSource } from '../controller/controller-definition.js';
import { IllegalStateError } from '../errors/index.js';
import type {
  IndexFunction,
  Informer,
  Lister,
  ResourceEvent,
  ResourceEventHandler,
} from '../informer/informer.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from '../informer/informer.js';
import type { DeepReadonly, KubernetesObject, ResourceType } from '../kubernetes/index.js';
import { keyOf, qualifiedResource } from '../kubernetes/index.js';
import type { InMemoryApi } from './in-memory-api.js';

/** Caches that show the in-memory API as it was at the last `refresh`. */
export class InMemoryInformers implements InformerSource {
  private readonly informers = new Map<string, InMemoryInformer<KubernetesObject>>();

  constructor(private readonly api: InMemoryApi) {}

  informerFor<T extends KubernetesObject>(type: ResourceType): InMemoryInformer<T> {
    const name = qualifiedResource(type);
    const informer = this.informers.get(name) ?? new InMemoryInformer<KubernetesObject>(type);
    this.informers.set(name, informer);
    return informer as unknown as InMemoryInformer<T>;
  }

  /** Shows the current state everywhere, and tells the handlers what changed. */
  refresh(): void {
    for (const informer of this.informers.values()) informer.replace(this.api.all(informer.type));
  }
}

/** An informer whose store is replaced by hand. */
export class InMemoryInformer<T extends KubernetesObject> implements Informer<T>, Lister<T> {
  readonly lister: Lister<T> = this;
  hasSynced = false;
  lastSyncedResourceVersion: string | undefined;
  private objects = new Map<string, DeepReadonly<T>>();
  private readonly handlers = new Set<ResourceEventHandler<T>>();
  private readonly indexFunctions = new Map<string, IndexFunction<T>>([
    [NAMESPACE_INDEX, ({ metadata }) => [metadata.namespace ?? '']],
    [OWNER_UID_INDEX, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid)],
  ] as [string, IndexFunction<T>][]);
  private indexes = new Map<string, Map<string, DeepReadonly<T>[]>>();

  constructor(readonly type: ResourceType) {}

  get(key: string): DeepReadonly<T> | undefined {
    return this.objects.get(key);
  }

  list(): readonly DeepReadonly<T>[] {
    return [...this.objects.values()];
  }

  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    if (!this.indexFunctions.has(index)) throw new IllegalStateError(`there is no index "${index}"`);
    return this.indexes.get(index)?.get(value) ?? [];
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.hasSynced) throw new IllegalStateError('indexes are added before the informer runs');
    this.indexFunctions.set(name, index);
  }

  addEventHandler(handler: ResourceEventHandler<T>): () => void {
    this.handlers.add(handler);
    for (const object of this.objects.values()) handler({ type: 'added', object, initial: true });
    return () => void this.handlers.delete(handler);
  }

  async waitForSync(): Promise<void> {}

  hasSeen(): boolean {
    return this.hasSynced;
  }

  async waitForResourceVersion(): Promise<void> {}

  async run(): Promise<void> {}

  replace(objects: readonly T[]): void {
    const before = this.objects;
    this.objects = new Map(objects.map((object) => [keyOf(object.metadata), object as DeepReadonly<T>]));
    this.indexes = this.computeIndexes();
    const initial = !this.hasSynced;
    this.hasSynced = true;
    for (const event of changes(before, this.objects, initial)) {
      for (const handler of this.handlers) handler(event);
    }
  }

  private computeIndexes(): Map<string, Map<string, DeepReadonly<T>[]>> {
    return new Map(
      [...this.indexFunctions].map(([name, index]) => {
        const found = new Map<string, DeepReadonly<T>[]>();
        for (const object of this.objects.values()) {
          for (const value of new Set(index(object))) found.set(value, [...(found.get(value) ?? []), object]);
        }
        return [name, found];
      }),
    );
  }
}

function changes<T extends KubernetesObject>(
  before: ReadonlyMap<string, DeepReadonly<T>>,
  after: ReadonlyMap<string, DeepReadonly<T>>,
  initial: boolean,
): ResourceEvent<T>[] {
  const events: ResourceEvent<T>[] = [];
  for (const [key, object] of after) {
    const old = before.get(key);
    if (!old) events.push({ type: 'added', object, initial });
    else if (old !== object) events.push({ type: 'modified', object, old });
  }
  for (const [key, object] of before) {
    if (!after.has(key)) events.push({ type: 'deleted', object, finalStateUnknown: false });
  }
  return events;
}
