import type { InformerSource } from '@rollkeeper/runtime/controller';
import type {
  IndexFunction,
  Informer,
  InformerTrouble,
  MetadataInformer,
  MetadataInformerOptions,
  ResourceEvent,
  PartialType,
} from '@rollkeeper/client/informer';
import {
  NAMESPACE_INDEX,
  OWNER_UID_INDEX,
  ObjectStore,
  cacheNameOf,
  trimToOwnership,
} from '@rollkeeper/client/informer';
import type { KubernetesObject, ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  compareResourceVersions,
  newerResourceVersion,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';
import type { ClusterEvent, FakeCluster } from './fake-cluster.js';

/** Informers that see a {@link FakeCluster} without delay, or, while paused, not at all. */
export class FakeInformers implements InformerSource {
  /** By the name of the cache. */
  private readonly informers = new Map<string, FakeInformer>();
  /** Running metadata-only informers, with their types. */
  private readonly metadata = new Map<string, FakeInformer>();
  private readonly refused = new Map<string, InformerTrouble>();
  private readonly held: (() => void)[] = [];
  private paused = false;

  constructor(private readonly cluster: FakeCluster) {
    cluster.onEvent((type, event) => {
      for (const informer of this.allOf(type)) {
        if (this.paused) this.held.push(() => informer.apply(event));
        else informer.apply(event);
      }
    });
  }

  /** The types of running metadata informers. */
  get metadataTypes(): readonly string[] {
    return [...this.metadata.keys()];
  }

  informerFor<T extends KubernetesObject>(type: ResourceType): Informer<T> {
    return this.shared(qualifiedResource(type), () => new FakeInformer(type)) as unknown as Informer<T>;
  }

  partialInformerFor<T extends KubernetesObject>(type: PartialType): Informer<T> {
    const trim = (object: UnstructuredObject) => type.part.keep(object) as UnstructuredObject;
    const informer = this.shared(cacheNameOf(type), () => new FakeInformer(type, { ...SHARED_LIFE, trim }));
    return informer as unknown as Informer<T>;
  }

  private shared(name: string, create: () => FakeInformer): FakeInformer {
    let informer = this.informers.get(name);
    if (!informer) {
      informer = create();
      this.fill(informer);
      this.informers.set(name, informer);
    }
    return informer;
  }

  /** The caches of a type: of whole objects, of parts, and of metadata. */
  private allOf(type: ResourceType): readonly FakeInformer[] {
    const name = qualifiedResource(type);
    const all = [...this.informers.values()].filter((each) => qualifiedResource(each.type) === name);
    const metadata = this.metadata.get(name);
    return metadata ? [...all, metadata] : all;
  }

  metadataInformerFor(
    type: ResourceType,
    { keep = trimToOwnership }: MetadataInformerOptions = {},
  ): MetadataInformer {
    const name = qualifiedResource(type);
    const shared = this.informers.get(name);
    if (shared) return { informer: shared, isShared: true };
    const informer = new FakeInformer(type, {
      trim: (object) => keep(object) as UnstructuredObject,
      begin: () => {
        this.metadata.set(name, informer);
        this.fill(informer);
      },
      end: () => void this.metadata.delete(name),
    });
    return { informer, isShared: false };
  }

  /** From now on the server refuses to list the type; cached objects stay. */
  refuse(type: ResourceType, trouble: InformerTrouble): void {
    const name = qualifiedResource(type);
    this.refused.set(name, trouble);
    for (const informer of this.allOf(type)) informer.fail(trouble);
  }

  /** The server lists the type again. */
  allow(type: ResourceType): void {
    this.refused.delete(qualifiedResource(type));
    for (const informer of this.allOf(type)) this.fill(informer);
  }

  /** From now on the caches do not change. */
  pause(): void {
    this.paused = true;
  }

  /** The caches catch up. */
  resume(): void {
    this.paused = false;
    for (const apply of this.held.splice(0)) apply();
  }

  /** The caches never learn what they have missed since they were paused, as if it was still on its way. */
  dropHeld(): void {
    this.held.length = 0;
  }

  private fill(informer: FakeInformer): void {
    const trouble = this.refused.get(qualifiedResource(informer.type));
    if (trouble) informer.fail(trouble);
    else informer.list(this.cluster.all<UnstructuredObject>(informer.type));
  }
}

interface FakeInformerLife {
  readonly trim: (object: UnstructuredObject) => UnstructuredObject;
  /** Called by `run`. */
  readonly begin: () => void;
  readonly end: () => void;
}

const SHARED_LIFE: FakeInformerLife = {
  trim: (object) => object,
  begin: () => undefined,
  end: () => undefined,
};

class FakeInformer implements Informer<UnstructuredObject> {
  hasSynced = false;
  trouble: InformerTrouble | undefined;
  lastSyncedResourceVersion: string | undefined = undefined;
  newestDeletion: string | undefined = undefined;
  private readonly store = new ObjectStore<UnstructuredObject>();
  private readonly indexes = new Map<string, IndexFunction<UnstructuredObject>>();
  readonly lister = this.store.lister;
  private readonly handlers = new Set<(event: ResourceEvent<UnstructuredObject>) => void>();

  constructor(
    readonly type: ResourceType,
    private readonly life = SHARED_LIFE,
  ) {
    this.addIndex(OWNER_UID_INDEX, (object) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid));
    this.addIndex(NAMESPACE_INDEX, (object) => [object.metadata.namespace ?? '']);
  }

  addIndex(name: string, index: IndexFunction<UnstructuredObject>): void {
    if (this.indexes.get(name) === index) return;
    this.indexes.set(name, index);
    this.store.addIndex(name, index);
  }

  addEventHandler(handler: (event: ResourceEvent<UnstructuredObject>) => void): () => void {
    for (const object of this.lister.list()) handler({ type: 'added', object, initial: true });
    this.handlers.add(handler);
    return () => void this.handlers.delete(handler);
  }

  async waitForSync(): Promise<void> {}

  hasSeen(resourceVersion: string): boolean {
    return (compareResourceVersions(this.lastSyncedResourceVersion ?? '0', resourceVersion) ?? 0) >= 0;
  }

  absencesSeen(): string | undefined {
    return this.lastSyncedResourceVersion;
  }

  async waitUntilSettled(): Promise<void> {}

  async waitForResourceVersion(): Promise<void> {}

  async run(signal: AbortSignal): Promise<void> {
    this.life.begin();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.life.end();
  }

  list(objects: readonly UnstructuredObject[]): void {
    this.trouble = undefined;
    const events = this.store.replace(
      objects.map((object) => this.received(object)),
      !this.hasSynced,
    );
    this.emit(events);
    this.hasSynced = true;
  }

  fail(trouble: InformerTrouble): void {
    this.trouble = trouble;
  }

  apply(event: ClusterEvent): void {
    if (this.trouble) return;
    const object = this.received(event.object);
    const isDeletion = event.type === 'DELETED';
    if (isDeletion) this.newestDeletion = this.lastSyncedResourceVersion;
    this.emit(isDeletion ? this.store.remove(object) : this.store.upsert(object));
  }

  private received(sent: UnstructuredObject): UnstructuredObject {
    const object = deepFreeze(this.life.trim(structuredClone(sent)));
    const { resourceVersion } = object.metadata;
    this.lastSyncedResourceVersion = newerResourceVersion(this.lastSyncedResourceVersion, resourceVersion);
    return object;
  }

  private emit(events: readonly ResourceEvent<UnstructuredObject>[]): void {
    for (const event of events) for (const handler of this.handlers) handler(event);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
