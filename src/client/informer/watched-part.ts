import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { ObjectShard, WatchEvent } from '../api-client/index.js';
import { IllegalStateError, errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { compareResourceVersions, isComparableResourceVersion } from '@rollkeeper/machinery/kubernetes';
import { CacheProgress } from './cache-progress.js';
import { decideDoubt, isUnavailable } from './decide-watch-step.js';
import type { InformerTrouble, ResourceEvent, ShardProgress } from './informer.js';
import type { ReflectorConfig, ReflectorDependencies, ReflectorSink } from './reflector.js';
import { Reflector } from './reflector.js';
import type { ObjectStore } from './store.js';
import type { Reading } from './version-waiters.js';
import { VersionWaiters } from './version-waiters.js';

interface WatchedPartDependencies<T extends KubernetesObject> extends Omit<ReflectorDependencies<T>, 'sink'> {
  readonly store: ObjectStore<T>;
  /** Shrinks an object before it is cached. */
  readonly prepare: (item: T) => T;
  /** Called with a change of the store, after it is applied and before waiters resolve. */
  readonly dispatch: (events: readonly ResourceEvent<T>[]) => void;
  /** Called after the events of the first list. */
  readonly listed: () => void;
  /** See {@link VersionWaiters}. */
  readonly doubtAfterMs: number;
}

/**
 * The part of an informer that is listed and watched as a unit: everything, or one of several namespaces or shards. Tracks the
 * progress of its watch, which says nothing about other parts.
 */
export class WatchedPart<T extends KubernetesObject> implements ReflectorSink<T> {
  /** The namespace, if there are several parts. */
  readonly namespace: string | undefined;
  /** The shard, if there are shards. */
  readonly shard: ObjectShard | undefined;
  private readonly left = new AbortController();
  private readonly progress = new CacheProgress();
  private readonly waiters: VersionWaiters;
  private readonly reflector: Reflector<T>;
  private lastDeletion: string | undefined;
  private lastChange: string | undefined;
  private lastTrouble: InformerTrouble | undefined;
  private signal: AbortSignal | undefined;
  private readonly madeMs: number;

  constructor(
    private readonly deps: WatchedPartDependencies<T>,
    config: ReflectorConfig,
  ) {
    const { clock, doubtAfterMs } = deps;
    this.madeMs = clock.monotonicNow();
    this.namespace = config.namespace;
    this.shard = config.shard;
    this.reflector = new Reflector<T>({ ...deps, sink: this }, config);
    this.waiters = new VersionWaiters({
      clock,
      progress: this.progress,
      reads: () => this.reflector.readsBegun,
      doubt: () => this.doubt(),
      doubtAfterMs,
    });
  }

  /** Whether this part alone shows the objects of the namespace. */
  isOnlyOneOf(namespace: string | undefined): boolean {
    if (this.shard) return namespace !== undefined && this.shard.includesValue(namespace);
    return this.namespace === namespace;
  }

  /** How far its first list is. */
  get progressOfShard(): ShardProgress {
    const { hasSynced, lastTrouble: trouble } = this;
    const ageMs = this.deps.clock.monotonicNow() - this.madeMs;
    return { hasSynced, trouble, ageMs, includes: (namespace) => this.isOnlyOneOf(namespace) };
  }

  /** See {@link Reflector.isShardSelected}. */
  get isShardSelected(): boolean | undefined {
    return this.reflector.isShardSelected;
  }

  get hasSynced(): boolean {
    return this.progress.resourceVersion !== undefined;
  }

  get resourceVersion(): string | undefined {
    return this.progress.resourceVersion;
  }

  /** See `Informer.trouble`. */
  get trouble(): InformerTrouble | undefined {
    return this.lastTrouble;
  }

  get newestDeletion(): string | undefined {
    return this.lastDeletion;
  }

  /** See {@link SharedInformer.newestChangeIn}. */
  get newestChange(): string | undefined {
    return this.lastChange;
  }

  hasSeen(version: string): boolean {
    return this.progress.hasSeen(version);
  }

  waitFor(version: string, signal: AbortSignal): Promise<void> {
    return this.waiters.wait(version, this.unlessLeft(signal));
  }

  /** Ends for ever: from now on nothing of it reaches the store. */
  leave(): void {
    this.left.abort(new IllegalStateError('the shard is not watched any more'));
  }

  /** See `Informer.waitUntilCurrent`. */
  get isCurrent(): boolean {
    return this.reflector.isCurrent || isRefusal(this.lastTrouble);
  }

  /** See {@link Reflector.listUnlessCurrent}. */
  listUnlessCurrent(): void {
    this.reflector.listUnlessCurrent();
  }

  async run(signal: AbortSignal): Promise<void> {
    this.signal = this.unlessLeft(signal);
    this.waiters.start();
    await this.reflector.run(this.signal);
    this.waiters.stop();
  }

  /** Called by the reflector. */
  receivePage(items: readonly T[]): readonly T[] {
    return items.map((item) => this.deps.prepare(item));
  }

  /** Called by the reflector. */
  replace(items: readonly T[], reading: Reading): void {
    const { resourceVersion } = reading;
    this.lastTrouble = undefined;
    const shown = this.progress.resourceVersion;
    const events = this.deps.store.replace(items, shown === undefined, (object) => this.isAbout(object));
    if (shown !== undefined && isBefore(resourceVersion, shown)) {
      // Versions of the state that is lost may never be reached again.
      this.lastDeletion &&= resourceVersion;
      this.lastChange = undefined;
      this.deps.logger.warn('the server went back in time; was it restored from a backup?', {
        from: shown,
        to: resourceVersion,
      });
    }
    const versions = items.map(({ metadata }) => metadata.resourceVersion);
    this.progress.replaceBy(resourceVersion, versions);
    if (events.some(isDeletion)) this.lastDeletion = resourceVersion;
    // Versions without an order have no newest: the list has a version of its own.
    const inOrder = versions.every(
      (version) => version !== undefined && isComparableResourceVersion(version),
    );
    const changes = [...(inOrder ? versions : [resourceVersion]), this.lastDeletion];
    this.lastChange = changes.reduce(newerOf, this.lastChange);
    this.deps.dispatch(events);
    if (shown === undefined) this.deps.listed();
    this.waiters.learn(reading);
  }

  /** Only a shard is ever left. */
  private unlessLeft(signal: AbortSignal): AbortSignal {
    return this.shard ? AbortSignal.any([signal, this.left.signal]) : signal;
  }

  /** Whether an object belongs to this part. */
  isAbout(object: DeepReadonly<KubernetesObject>): boolean {
    if (this.shard) return this.shard.includes(object);
    return this.namespace === undefined || object.metadata.namespace === this.namespace;
  }

  /** Called by the reflector. */
  apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.progress.advanceTo(event.resourceVersion);
    } else {
      const events = this.change(event.type, event.object);
      const { resourceVersion } = event.object.metadata;
      this.progress.advanceTo(resourceVersion ?? '');
      if (events.some(isDeletion)) this.lastDeletion = newerOf(this.lastDeletion, resourceVersion);
      this.lastChange = newerOf(this.lastChange, resourceVersion);
      this.deps.dispatch(events);
    }
    this.waiters.check();
  }

  /** Called by the reflector. */
  fail(trouble: InformerTrouble): void {
    this.lastTrouble = trouble;
    // Only the progress has changed.
    this.deps.dispatch([]);
  }

  private change(type: 'ADDED' | 'MODIFIED' | 'DELETED', item: T): ResourceEvent<T>[] {
    const object = this.deps.prepare(item);
    return type === 'DELETED' ? this.deps.store.remove(object) : this.deps.store.upsert(object);
  }

  /** The version from which a watch was begun again, because it was silent. */
  private beganAgainFrom: string | undefined;

  /** A wait is taking too long. Never rejects: while the server cannot be reached, the reflector reports that. */
  private async doubt(): Promise<void> {
    const { logger } = this.deps;
    const { signal } = this;
    const shown = this.progress.resourceVersion;
    // A list is in progress, and will show more than this read.
    if (!signal || signal.aborted || shown === undefined) return;
    try {
      const reading = await this.reflector.readPresent(signal);
      const present = reading.resourceVersion;
      const silentForMs = Math.min(this.reflector.silentForMs ?? 0, this.waiters.longestMs);
      const isSilent = silentForMs >= this.deps.doubtAfterMs;
      const so = decideDoubt({ shown, present, isSilent, isAgain: this.beganAgainFrom === shown });
      // If the server went back, the cache still shows the lost state, which must not satisfy any waiter.
      if (so !== 'list') this.waiters.learn(reading);
      const isStillInDoubt = this.waiters.size > 0 || isBefore(present, shown);
      if (so === 'wait' || !isStillInDoubt) return;
      logger.info('the watch does not show what the server has', { shown, present, again: so });
      this.beganAgainFrom = shown;
      this.reflector.doubtWatch(so);
    } catch (error) {
      if (!isAborted(signal))
        logger.debug('the server does not say where it is', { reason: errorMessage(error) });
    }
  }
}

/** The newer of two; of versions without an order, the one that was seen later. */
function newerOf(before: string | undefined, later: string | undefined): string | undefined {
  if (before === undefined || later === undefined) return before ?? later;
  return isBefore(later, before) ? before : later;
}

function isBefore(version: string, other: string): boolean {
  return (compareResourceVersions(version, other) ?? 0) < 0;
}

/** An answer that a retry does not change. */
function isRefusal(trouble: InformerTrouble | undefined): boolean {
  return trouble?.code !== undefined && !isUnavailable(trouble.code);
}

function isDeletion<T extends KubernetesObject>({ type }: ResourceEvent<T>): boolean {
  return type === 'deleted';
}
