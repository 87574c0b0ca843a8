import { aborted } from '@rollkeeper/machinery/cancellation';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { ObjectShard } from '../api-client/index.js';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  compareResourceVersions,
  newerResourceVersion,
  qualifiedResource,
  ownerUids,
} from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { EventHandlers } from './event-handlers.js';
import type {
  IndexFunction,
  Informer,
  InformerTrouble,
  Lister,
  ResourceEvent,
  ResourceEventHandler,
  ShardHandler,
  ShardProgress,
  VersionScope,
} from './informer.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from './informer.js';
import type {
  CompiledSharedInformerOptions,
  PartScope,
  SharedInformerOptions,
} from './shared-informer.options.js';
import { compileSharedInformerOptions } from './shared-informer.options.js';
import { ObjectStore } from './store.js';
import { dropManagedFields } from './trim.js';
import { WatchedPart } from './watched-part.js';
import { ConditionWaiters } from './condition-waiters.js';

/**
 * The {@link Informer} that all controllers of a process share: its watches fill one store and notify all handlers. A
 * change is in the store before any handler sees it, and handlers have run before any wait for its resourceVersion
 * resolves.
 */
export class SharedInformer<T extends KubernetesObject> implements Informer<T> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  private readonly config: CompiledSharedInformerOptions;
  private readonly logger: Logger;
  private readonly store = new ObjectStore<T>();
  private readonly handlers: EventHandlers<T>;
  private readonly waiters = new ConditionWaiters();
  private parts: readonly WatchedPart<T>[];
  private readonly works = new Set<Promise<void>>();
  private signal: AbortSignal | undefined;
  private readonly indexes = new Map<string, IndexFunction<T>>();
  private readonly shardHandlers = new Set<ShardHandler<T>>();
  private started = false;

  /** @throws InvalidOptionError naming the option */
  constructor(private readonly options: SharedInformerOptions<T>) {
    this.config = compileSharedInformerOptions(options);
    this.type = options.type;
    this.logger = options.logger.child({ informer: qualifiedResource(options.type) });
    this.handlers = new EventHandlers(this.logger);
    this.lister = this.store.lister;
    this.parts = this.config.scopes.map((scope) => this.newPart(scope));
    if (options.standardIndexes === false) return;
    this.store.addIndex(NAMESPACE_INDEX, (object) => [object.metadata.namespace ?? '']);
    this.store.addIndex(OWNER_UID_INDEX, (object) => this.indexValues(OWNER_UID_INDEX, ownerUids, object));
  }

  get hasSynced(): boolean {
    return this.parts.every((part) => part.hasSynced);
  }

  /** It has run, and shows no changes any more. */
  get hasEnded(): boolean {
    return this.signal?.aborted === true;
  }

  get unsyncedNamespaces(): readonly string[] {
    return this.parts.flatMap(({ hasSynced, namespace }) => (hasSynced || !namespace ? [] : [namespace]));
  }

  get lastSyncedResourceVersion(): string | undefined {
    const [first, ...others] = this.parts.map(({ resourceVersion }) => resourceVersion);
    return others.reduce(older, first);
  }

  get newestDeletion(): string | undefined {
    return this.newestDeletionIn({});
  }

  /** {@link newestDeletion}, as far as it matters in `scope`. */
  newestDeletionIn(scope: VersionScope): string | undefined {
    return this.partsOf(scope).reduce<string | undefined>(
      (newest, part) => newerResourceVersion(newest, part.newestDeletion),
      undefined,
    );
  }

  /**
   * The version of the newest change that this cache has seen, as far as it matters in `scope`; undefined if it has seen
   * no object. Another cache that shows it has seen as much, also of a resource that changes seldom.
   */
  newestChangeIn(scope: VersionScope): string | undefined {
    return this.partsOf(scope).reduce<string | undefined>(
      (newest, part) => newerResourceVersion(newest, part.newestChange),
      undefined,
    );
  }

  absencesSeen(scope: VersionScope = {}): string | undefined {
    return this.partsOf(scope).reduce<string | undefined>(
      (newest, part) => newerResourceVersion(newest, part.newestDeletion ?? part.resourceVersion),
      undefined,
    );
  }

  showsNamespace(namespace: string): boolean {
    return !this.config.isSharded || this.parts.some((part) => part.isOnlyOneOf(namespace));
  }

  get shardProgress(): readonly ShardProgress[] | undefined {
    return this.config.isSharded ? this.parts.map(({ progressOfShard }) => progressOfShard) : undefined;
  }

  addShardHandler(handler: ShardHandler<T>): () => void {
    this.shardHandlers.add(handler);
    return () => void this.shardHandlers.delete(handler);
  }

  get leavesOutShards(): boolean {
    return this.parts.some(({ isShardSelected }) => isShardSelected === false);
  }

  get trouble(): InformerTrouble | undefined {
    return this.parts.find((part) => part.trouble)?.trouble;
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.indexes.get(name) === index) return;
    if (this.started) throw new IllegalStateError(`addIndex(${name}) after run`);
    this.indexes.set(name, index);
    this.store.addIndex(name, (object) => this.indexValues(name, index, object));
  }

  addEventHandler(handler: ResourceEventHandler<T>): () => void {
    const initial = this.lister.list().map((object) => ({ type: 'added', object, initial: true }) as const);
    return this.handlers.add(handler, initial);
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    return this.waiters.waitUntil(() => this.hasSynced, signal);
  }

  waitUntilSettled(signal: AbortSignal): Promise<void> {
    const isSettled = (part: WatchedPart<T>): boolean => part.hasSynced || part.trouble?.code !== undefined;
    return this.waiters.waitUntil(() => this.parts.every(isSettled), signal);
  }

  async waitUntilCurrent(signal: AbortSignal): Promise<void> {
    // One after another they may be current, and break again before all are.
    await Promise.all(
      this.parts.map((part) => {
        part.listUnlessCurrent();
        return this.waiters.waitUntil(() => part.isCurrent || !this.parts.includes(part), signal);
      }),
    );
  }

  /**
   * Shows the objects of these shards from now on. Shards that it had before stay as they are, and it lists new ones. It forgets the
   * objects of other shards at once, without an event, because nothing has happened to them. A wait for a version of such a shard rejects.
   * @throws IllegalStateError for an informer that was not made of shards
   */
  setShards(shards: readonly ObjectShard[]): void {
    if (!this.config.isSharded)
      throw new IllegalStateError(`the informer of ${this.type.resource} has no shards`);
    const wanted = new Map(shards.map((shard) => [shard.selector, shard]));
    const kept = this.parts.filter(({ shard }) => shard && wanted.has(shard.selector));
    const left = this.parts.filter((part) => !kept.includes(part));
    for (const { shard } of kept) if (shard) wanted.delete(shard.selector);
    const added = [...wanted.values()].map((shard) => this.newPart({ shard }));
    this.parts = [...kept, ...added];
    for (const part of left) part.leave();
    const forgotten = this.store.forget((object) => left.some((part) => part.isAbout(object)));
    if (forgotten.length > 0) for (const handler of [...this.shardHandlers]) handler.left(forgotten);
    for (const part of added) this.start(part);
    this.waiters.check();
  }

  /** Whether all objects of a shard are shown, and their changes come within moments; after a watch broke, from its next version on. */
  isCurrentIn({ selector }: ObjectShard): boolean {
    const part = this.parts.find(({ shard }) => shard?.selector === selector);
    return part?.hasSynced === true && part.isCurrent;
  }

  /**
   * Resolves once {@link isCurrentIn}, and also once the shard is not watched any more; rejects with the signal's reason.
   * @param options.optional resolves as well once the server has answered that there is no list
   */
  waitUntilCurrentIn(
    { selector }: ObjectShard,
    signal: AbortSignal,
    { optional = false }: { readonly optional?: boolean } = {},
  ): Promise<void> {
    const isSettled = (part: WatchedPart<T>): boolean =>
      part.isCurrent && (part.hasSynced || (optional && part.trouble?.code !== undefined));
    const isOfShard = ({ shard }: WatchedPart<T>): boolean => shard?.selector === selector;
    return this.waiters.waitUntil(() => this.parts.filter(isOfShard).every(isSettled), signal);
  }

  hasSeen(resourceVersion: string, scope?: VersionScope): boolean {
    return this.partsOf(scope).every((part) => part.hasSeen(resourceVersion));
  }

  async waitForResourceVersion(
    resourceVersion: string,
    signal: AbortSignal,
    scope?: VersionScope,
  ): Promise<void> {
    signal.throwIfAborted();
    await Promise.all(this.partsOf(scope).map((part) => part.waitFor(resourceVersion, signal)));
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError(`the informer of ${this.type.resource} is already running`);
    this.started = true;
    this.signal = signal;
    for (const part of this.parts) this.start(part);
    await Promise.all([aborted(signal), this.resync(signal)]);
    await Promise.all(this.works);
  }

  private newPart(scope: PartScope): WatchedPart<T> {
    const { doubtAfterMs, reflector } = this.config;
    const prepare = (item: T): T => this.prepare(item);
    const dispatch = (events: readonly ResourceEvent<T>[]): void => this.dispatch(events);
    const { logger, options, store } = this;
    const config = { ...reflector, ...scope };
    const listed = (): void => {
      for (const handler of [...this.shardHandlers]) handler.listed();
    };
    return new WatchedPart<T>({ ...options, logger, store, prepare, dispatch, listed, doubtAfterMs }, config);
  }

  private start(part: WatchedPart<T>): void {
    if (!this.signal || this.signal.aborted) return;
    const work = part.run(this.signal).finally(() => this.works.delete(work));
    this.works.add(work);
  }

  /** The parts that show the objects of a namespace. */
  private partsOf({ namespace }: VersionScope = {}): readonly WatchedPart<T>[] {
    const part = this.parts.find((candidate) => candidate.isOnlyOneOf(namespace));
    return part ? [part] : this.parts;
  }

  private dispatch(events: readonly ResourceEvent<T>[]): void {
    this.handlers.dispatch(events);
    this.waiters.check();
  }

  private prepare(item: T): T {
    const trim = this.options.trim ?? dropManagedFields;
    try {
      const trimmed = trim(item);
      return this.config.freeze ? deepFreeze(trimmed) : trimmed;
    } catch (error) {
      // A cached object that is too large is better than a missing one.
      this.logger.error('an object could not be trimmed', { name: item.metadata.name, error });
      return item;
    }
  }

  /** An object that an index function cannot handle must not stop the whole cache. */
  private indexValues(name: string, index: IndexFunction<T>, object: DeepReadonly<T>): readonly string[] {
    try {
      return index(object);
    } catch (error) {
      this.logger.error('an index function threw', { index: name, name: object.metadata.name, error });
      return [];
    }
  }

  private async resync(signal: AbortSignal): Promise<void> {
    if (this.config.resyncPeriodMs === 0) return;
    while (!signal.aborted) {
      try {
        await this.options.clock.sleep(this.config.resyncPeriodMs, signal);
      } catch {
        return;
      }
      const objects = this.lister.list();
      this.handlers.dispatch(objects.map((object) => ({ type: 'modified', object, old: object })));
    }
  }
}

/** The older of two versions if they are comparable; a part without a version is behind all others. */
function older(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined;
  return (compareResourceVersions(a, b) ?? 0) <= 0 ? a : b;
}

/** Freezes a JSON value at every depth, so that code which changes a cached object throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) deepFreeze(child);
  return value;
}
