import type {
  ApiClient,
  DiscoveredResource,
  DiscoveredResources,
  Informer,
  InformerSource,
  LeadingWork,
  UnreadableResource,
} from '@rollkeeper/runtime';
import { LinkedAbort, abortable, onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, OwnerReference, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { MonitorState } from './decide-monitors.js';
import {
  LONGEST_FIRST_LIST_MS,
  decideMonitorState,
  decideMonitors,
  decideShardState,
} from './decide-monitors.js';
import type { DependencyGraph } from './dependency-graph.js';
import { namesKind } from './dependency-graph.js';
import type { CompiledGarbageCollectorOptions } from './garbage-collector.options.js';

interface ResourceMonitorsDependencies {
  readonly informers: Pick<InformerSource, 'metadataInformerFor'>;
  readonly discovery: Pick<ApiClient, 'discover'>;
  readonly graph: DependencyGraph;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Monitor {
  /** As discovered; a shared informer may use another version. */
  readonly type: ResourceType;
  readonly informer: Informer;
  readonly startedMs: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A change of one of these may mean new or removed types. */
const ANNOUNCING = new Set([
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
]);
/** Delay from such a change to the next discovery, so that changes are combined and the server can catch up. */
const ANNOUNCED_DELAY_MS = 500;
/** Shards of many types are listed at about the same time: the objects that may depend on them are looked for once. */
const LISTED_TOGETHER_MS = 250;
/** Delay after discovery has failed completely; doubles up to the regular interval. */
const FIRST_DISCOVERY_BACKOFF_MS = 500;

/**
 * Keeps the graph watching every type of the server, on the leader, or with slots on each replica what it holds: runs discovery periodically, starts a metadata
 * informer for each type that is not cached anyway, and stops those of types no longer served. Unreadable types and
 * groups are reported and do not affect others.
 */
export class ResourceMonitors implements LeadingWork {
  private readonly monitors = new Map<string, Monitor>();
  private discovered: readonly DiscoveredResource[] = [];
  private undiscovered: readonly UnreadableResource[] = [];
  private first = Promise.withResolvers<void>();
  private ready = false;
  private announced = false;
  private wake: (() => void) | undefined;
  private readonly justListed = new Set<ResourceType>();
  private listedTimer: TimerHandle | undefined;

  constructor(
    private readonly deps: ResourceMonitorsDependencies,
    private readonly options: Pick<
      CompiledGarbageCollectorOptions,
      'discoveryIntervalMs' | 'ignoredResources'
    >,
  ) {}

  /** The number of watched types, by state. */
  get counts(): Readonly<Record<MonitorState, number>> {
    const counts = { syncing: 0, synced: 0, unreadable: 0 };
    for (const monitor of this.monitors.values()) counts[this.stateOf(monitor)]++;
    return counts;
  }

  get isReady(): boolean {
    return this.ready;
  }

  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.deps.graph.onEvent((type, event) => {
      const isNews = event.type !== 'added' || !event.initial;
      if (isNews && ANNOUNCING.has(qualifiedResource(type))) this.announce();
    });
    let backoffMs = FIRST_DISCOVERY_BACKOFF_MS;
    while (!signal.aborted) {
      const isKnown = await this.refresh(signal);
      if (isKnown) this.first.resolve();
      backoffMs = isKnown ? FIRST_DISCOVERY_BACKOFF_MS : backoffMs * 2;
      const { discoveryIntervalMs } = this.options;
      await this.pause(isKnown ? discoveryIntervalMs : Math.min(backoffMs, discoveryIntervalMs), signal);
    }
    unsubscribe();
    await this.end();
  }

  /**
   * Resolves once each type of the server is listed, or known to be unreadable; after 30 s it stops waiting for hanging
   * ones.
   */
  async waitUntilReady(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const enough = new AbortController();
    const either = new LinkedAbort(signal, enough.signal);
    const timer = clock.setTimeout(() => enough.abort(), LONGEST_FIRST_LIST_MS);
    try {
      // The first discovery is required, however long it takes.
      await abortable(this.first.promise, signal);
      const all = [...this.monitors.values()];
      await Promise.all(all.map(({ informer }) => informer.waitUntilSettled(either.signal)));
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      timer.cancel();
      either.close();
    }
    this.ready = true;
    this.report();
  }

  /** Whether a first list is in progress: conclusions from missing dependents have to wait for it. */
  get isFilling(): boolean {
    return [...this.monitors.values()].some((monitor) => this.stateOf(monitor) === 'syncing');
  }

  /**
   * The same for conclusions about an owner in a namespace, or in none. With slots, only the objects of its own namespace count, and those of other
   * replicas are not waited for.
   */
  isFillingFor(namespace: string | undefined): boolean {
    return [...this.monitors.values()].some((monitor) => {
      const shards = monitor.informer.shardProgress;
      if (!shards) return this.stateOf(monitor) === 'syncing';
      if (namespace === undefined) return false;
      const shard = shards.find((each) => each.includes(namespace));
      return !shard || decideShardState(shard) === 'syncing';
    });
  }

  /** With slots: the caches have the objects of some namespaces, and other replicas those of others. */
  get seesPart(): boolean {
    return [...this.monitors.values()].some(({ informer }) => informer.shardProgress !== undefined);
  }

  /** The types with a namespace that are watched, or would be if the server allowed it. */
  get namespacedTypes(): readonly ResourceType[] {
    return [...this.monitors.values()].flatMap(({ type }) => (type.namespaced ? [type] : []));
  }

  /** Whether changes of the type are watched. */
  isFollowed(type: ResourceType): boolean {
    const monitor = this.monitors.get(qualifiedResource(type));
    return monitor !== undefined && this.stateOf(monitor) === 'synced';
  }

  /** The type of a reference, watched or not. */
  typeOf(reference: DeepReadonly<OwnerReference>): ResourceType | undefined {
    return this.deps.graph.typeOf(reference) ?? this.discovered.find((type) => namesKind(reference, type));
  }

  /** Nothing waits for the caches of unreadable types. */
  informerOf(resource: string): Informer | undefined {
    const monitor = this.monitors.get(resource);
    return monitor && this.stateOf(monitor) !== 'unreadable' ? monitor.informer : undefined;
  }

  unreadable(): readonly UnreadableResource[] {
    const monitors = [...this.monitors.values()].filter((monitor) => this.stateOf(monitor) === 'unreadable');
    return [
      ...this.undiscovered,
      ...monitors.map(({ informer, type }) => ({
        resource: qualifiedResource(type),
        reason: informer.trouble?.reason ?? 'the server has not answered yet',
      })),
    ];
  }

  private stateOf({ informer, startedMs }: Monitor): MonitorState {
    const { hasSynced, shardProgress, trouble } = informer;
    if (shardProgress) {
      const states = shardProgress.map(decideShardState);
      return (
        states.find((state) => state === 'syncing') ?? states.find((state) => state !== 'synced') ?? 'synced'
      );
    }
    return decideMonitorState({ hasSynced, trouble, ageMs: this.deps.clock.monotonicNow() - startedMs });
  }

  /** Returns whether discovery succeeded. */
  private async refresh(signal: AbortSignal): Promise<boolean> {
    const { discovery, logger } = this.deps;
    let found: DiscoveredResources;
    try {
      found = await discovery.discover({ signal });
    } catch (error) {
      if (signal.aborted) return false;
      this.note([{ resource: 'discovery', reason: errorMessage(error) }]);
      return false;
    }
    if (signal.aborted) return false;
    const { failedGroups, resources } = found;
    const failures = failedGroups.map(({ error, groupVersion }) => ({
      resource: groupVersion,
      reason: errorMessage(error),
    }));
    const isNothing = resources.length === 0;
    if (isNothing) failures.push({ resource: 'discovery', reason: 'the server says that it has nothing' });
    else this.discovered = resources;
    this.note(failures);
    const followed = [...this.monitors.values()].map(({ type }) => type);
    const { start, stop } = decideMonitors(followed, found, this.options.ignoredResources);
    for (const type of stop) this.stop(type);
    for (const type of start) this.start(type, signal);
    if (start.length + stop.length > 0)
      logger.info('the types that are followed have changed', {
        added: namesOf(start),
        removed: namesOf(stop),
        followed: this.monitors.size,
      });
    return !isNothing;
  }

  /** Reports unreadable groups once. */
  private note(failures: readonly UnreadableResource[]): void {
    const isNew = !sameJson(failures, this.undiscovered);
    this.undiscovered = failures;
    if (isNew && failures.length > 0)
      this.deps.logger.error('the server does not tell all that it has', { failures });
  }

  private start(type: ResourceType, signal: AbortSignal): void {
    const { clock, graph, informers } = this.deps;
    const { informer, isShared } = informers.metadataInformerFor(type);
    const stop = new AbortController();
    const either = new LinkedAbort(signal, stop.signal);
    graph.follow(informer);
    const running = isShared ? Promise.resolve() : informer.run(either.signal);
    this.monitors.set(qualifiedResource(type), {
      type,
      informer,
      startedMs: clock.monotonicNow(),
      stop,
      ended: running.finally(() => either.close()),
    });
    const ofShards = informer.shardProgress && {
      left: () => undefined,
      listed: () => this.noteListed(informer.type),
    };
    const stopListening = ofShards && informer.addShardHandler?.(ofShards);
    if (stopListening) onAbort(either.signal, stopListening);
    else
      informer.waitForSync(either.signal).then(
        () => graph.markListed([informer.type]),
        () => undefined,
      );
  }

  private noteListed(type: ResourceType): void {
    this.justListed.add(type);
    this.listedTimer ??= this.deps.clock.setTimeout(() => {
      const types = [...this.justListed];
      this.justListed.clear();
      this.listedTimer = undefined;
      this.deps.graph.markListed(types);
    }, LISTED_TOGETHER_MS);
  }

  private stop(type: ResourceType): void {
    const name = qualifiedResource(type);
    const monitor = this.monitors.get(name);
    if (!monitor) return;
    this.monitors.delete(name);
    monitor.stop.abort();
    this.deps.graph.forget(monitor.informer.type);
  }

  private async end(): Promise<void> {
    const ended = [...this.monitors.values()].map(({ ended: end }) => end);
    this.ready = false;
    this.listedTimer?.cancel();
    this.listedTimer = undefined;
    this.justListed.clear();
    this.monitors.clear();
    this.deps.graph.clear();
    this.discovered = [];
    this.undiscovered = [];
    this.first = Promise.withResolvers();
    await Promise.all(ended);
  }

  private report(): void {
    const { graph, logger } = this.deps;
    logger.info('collecting garbage', {
      ...this.counts,
      objects: graph.size,
      unreadableResources: this.unreadable().map(({ resource }) => resource),
    });
  }

  private announce(): void {
    this.announced = true;
    this.wake?.();
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const either = new LinkedAbort(signal, woken.signal);
    this.wake = () => woken.abort();
    if (this.announced) this.wake();
    await pause(this.deps.clock, ms, either.signal);
    this.wake = undefined;
    either.close();
    if (!this.announced) return;
    await pause(this.deps.clock, ANNOUNCED_DELAY_MS, signal);
    this.announced = false;
  }
}

const NAMED_AT_MOST = 20;

/** For the log, where several hundred names would fill a page. */
function namesOf(types: readonly ResourceType[]): string[] {
  const names = types.slice(0, NAMED_AT_MOST).map(qualifiedResource);
  return types.length > names.length ? [...names, `and ${types.length - names.length} more`] : names;
}
