import type { WatchEvent } from '../api-client/index.js';
import { IllegalStateError } from '../errors/index.js';
import type { DeepReadonly, KubernetesObject, ResourceType } from '../kubernetes/index.js';
import { compareResourceVersions, newerResourceVersion, qualifiedResource } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import { ConditionWaiters } from './condition-waiters.js';
import { deepFreeze } from './deep-freeze.js';
import { EventHandlers } from './event-handlers.js';
import type {
  IndexFunction,
  Informer,
  InformerTrouble,
  Lister,
  ResourceEvent,
  ResourceEventHandler,
} from './informer.js';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from './informer.js';
import type { ReflectorSink } from './reflector.js';
import { Reflector } from './reflector.js';
import type { CompiledSharedInformerOptions, SharedInformerOptions } from './shared-informer.options.js';
import { compileSharedInformerOptions } from './shared-informer.options.js';
import { ObjectStore } from './store.js';
import { dropManagedFields } from './trim.js';

/**
 * The {@link Informer} that all controllers of a process share: one reflector fills one store and tells all handlers.
 * A change is in the store before any handler hears of it, and handlers have heard of it before anyone who waits for
 * its resourceVersion goes on.
 */
export class SharedInformer<T extends KubernetesObject> implements Informer<T>, ReflectorSink<T> {
  readonly type: ResourceType;
  readonly lister: Lister<T>;
  private readonly config: CompiledSharedInformerOptions;
  private readonly logger: Logger;
  private readonly store = new ObjectStore<T>();
  private readonly handlers: EventHandlers<T>;
  private readonly waiters = new ConditionWaiters();
  private readonly reflector: Reflector<T>;
  private started = false;
  private synced = false;
  private lastSynced: string | undefined;
  private lastDeletion: string | undefined;
  private lastTrouble: InformerTrouble | undefined;

  /** @throws InvalidOptionError naming the option */
  constructor(private readonly options: SharedInformerOptions<T>) {
    this.config = compileSharedInformerOptions(options);
    this.type = options.type;
    this.logger = options.logger.child({ informer: qualifiedResource(options.type) });
    this.handlers = new EventHandlers(this.logger);
    this.lister = this.store.lister;
    this.reflector = new Reflector<T>({ ...options, sink: this, logger: this.logger }, this.config.reflector);
    if (options.standardIndexes === false) return;
    this.store.addIndex(NAMESPACE_INDEX, (object) => [object.metadata.namespace ?? '']);
    this.store.addIndex(OWNER_UID_INDEX, ownerUids);
  }

  get hasSynced(): boolean {
    return this.synced;
  }

  get lastSyncedResourceVersion(): string | undefined {
    return this.lastSynced;
  }

  get newestDeletion(): string | undefined {
    return this.lastDeletion;
  }

  get trouble(): InformerTrouble | undefined {
    return this.lastTrouble;
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.started) throw new IllegalStateError(`addIndex(${name}) after run`);
    this.store.addIndex(name, (object) => this.indexValues(name, index, object));
  }

  addEventHandler(handler: ResourceEventHandler<T>): () => void {
    const initial = this.lister.list().map((object) => ({ type: 'added', object, initial: true }) as const);
    return this.handlers.add(handler, initial);
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    return this.waiters.waitUntil(() => this.synced, signal);
  }

  waitUntilSettled(signal: AbortSignal): Promise<void> {
    return this.waiters.waitUntil(() => this.synced || this.lastTrouble?.code !== undefined, signal);
  }

  waitForResourceVersion(resourceVersion: string, signal: AbortSignal): Promise<void> {
    return this.waiters.waitUntil(
      () => this.lastSynced !== undefined && compareResourceVersions(this.lastSynced, resourceVersion) >= 0,
      signal,
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError(`the informer of ${this.type.resource} runs already`);
    this.started = true;
    await Promise.all([this.reflector.run(signal), this.resync(signal)]);
  }

  /** For the reflector. */
  receivePage(items: readonly T[]): readonly T[] {
    return items.filter(this.config.accepts).map((item) => this.prepare(item));
  }

  /** For the reflector. */
  replace(items: readonly T[], resourceVersion: string): void {
    const events = this.store.replace(items, !this.synced);
    this.synced = true;
    this.lastTrouble = undefined;
    if (this.lastSynced !== undefined && compareResourceVersions(resourceVersion, this.lastSynced) < 0) {
      this.logger.warn('the server went back in time; was it restored from a backup?', {
        from: this.lastSynced,
        to: resourceVersion,
      });
    }
    this.lastSynced = resourceVersion;
    if (events.some(isDeletion)) this.lastDeletion = resourceVersion;
    this.handlers.dispatch(events);
    this.waiters.check();
  }

  /** For the reflector. */
  apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.advance(event.resourceVersion);
      return;
    }
    const { resourceVersion } = event.object.metadata;
    const events = this.config.accepts(event.object) ? this.change(event.type, event.object) : [];
    this.lastSynced = newerResourceVersion(this.lastSynced, resourceVersion);
    if (events.some(isDeletion)) this.lastDeletion = newerResourceVersion(this.lastDeletion, resourceVersion);
    this.handlers.dispatch(events);
    this.waiters.check();
  }

  /** For the reflector. */
  fail(trouble: InformerTrouble): void {
    this.lastTrouble = trouble;
    this.waiters.check();
  }

  private change(type: 'ADDED' | 'MODIFIED' | 'DELETED', item: T): ResourceEvent<T>[] {
    const object = this.prepare(item);
    return type === 'DELETED' ? this.store.remove(object) : this.store.upsert(object);
  }

  private advance(resourceVersion: string): void {
    if (resourceVersion === '') return;
    this.lastSynced = newerResourceVersion(this.lastSynced, resourceVersion);
    this.waiters.check();
  }

  private prepare(item: T): T {
    const trim = this.options.trim ?? dropManagedFields;
    try {
      const trimmed = trim(item);
      return this.config.freeze ? deepFreeze(trimmed) : trimmed;
    } catch (error) {
      // Too much in the cache is better than an object missing from it.
      this.logger.error('an object could not be trimmed', { name: item.metadata.name, error });
      return item;
    }
  }

  /** One object that an index function cannot cope with must not stop the whole cache. */
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

function isDeletion<T extends KubernetesObject>({ type }: ResourceEvent<T>): boolean {
  return type === 'deleted';
}

function ownerUids(object: DeepReadonly<KubernetesObject>): readonly string[] {
  return object.metadata.ownerReferences?.map((reference) => reference.uid) ?? [];
}
