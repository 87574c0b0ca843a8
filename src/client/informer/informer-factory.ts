import { aborted } from '@rollkeeper/machinery/cancellation';
import type { ObjectShard } from '../api-client/index.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { PartialType, WholeType } from './cached-type.js';
import { cacheNameOf } from './cached-type.js';
import type { Informer, VersionScope } from './informer.js';
import type { JoinedShards } from './join-shards.js';
import { joinShards } from './join-shards.js';
import type { ListWatcher } from './list-everything.js';
import { SharedInformer } from './shared-informer.js';
import type { SharedInformerOptions } from './shared-informer.options.js';
import { StreamingLists } from './streaming-lists.js';
import { WatchPatrol } from './watch-patrol.js';
import type { ContentTrim, Trim } from './trim.js';
import { DEFAULT_TRIMS, trimFor, trimToOwnership } from './trim.js';

/** The objects of one type to cache; unset means all. */
export interface InformerSelection {
  labelSelector?: string;
  fieldSelector?: string;
}

export interface InformerFactoryOptions extends Pick<
  SharedInformerOptions<KubernetesObject>,
  | 'namespaces'
  | 'shards'
  | 'freeze'
  | 'resyncPeriodMs'
  | 'pageSize'
  | 'watchTimeoutSeconds'
  | 'idleGraceMs'
  | 'doubtAfterMs'
  | 'firstBackoffMs'
  | 'maxBackoffMs'
  | 'maxRefusedBackoffMs'
> {
  client: ListWatcher;
  clock: Clock;
  random: RandomSource;
  logger: Logger;
  /** By `qualifiedResource`. @default everything */
  selections?: Readonly<Record<string, InformerSelection>>;
  /** By `qualifiedResource`; for other types only managedFields are dropped. @default DEFAULT_TRIMS */
  trims?: ReadonlyMap<string, ContentTrim>;
}

/**
 * Concurrent metadata lists: many types are listed at the same time, and all other requests would wait behind them. A
 * slow list gives up its slot, so that a hanging type does not block the others.
 */
const METADATA_LISTS_AT_ONCE = 8;
const METADATA_LIST_GIVES_WAY_AFTER_MS = 1000;
/** A type that we may not list will usually stay forbidden. */
const METADATA_REFUSED_BACKOFF_MS = 30_000;

/** With hundreds of types, each watch end costs some requests per second, so noticing a dead one may take a minute. */
const METADATA_WATCH_TIMEOUT_SECONDS = 60;

/** Options of {@link InformerFactory.metadataInformerFor} if no shared informer is returned. */
export interface MetadataInformerOptions {
  /** Selects the metadata that is kept. @default trimToOwnership */
  readonly keep?: Trim;
  /** @default the factory's */
  readonly logger?: Logger;
  /** Longest pause if the server refuses, milliseconds. @default 30000 */
  readonly maxRefusedBackoffMs?: number;
}

/** The result of {@link InformerFactory.metadataInformerFor}. */
export interface MetadataInformer {
  readonly informer: Informer;
  /** Whether it already runs for other users. */
  readonly isShared: boolean;
}

/** One shared informer per type or part of it, all run together: the controllers' `InformerSource`. */
export class InformerFactory {
  private readonly informers = new Map<string, SharedInformer<KubernetesObject>>();
  private readonly running: Promise<void>[] = [];
  private readonly metadataClient: ListWatcher;
  private readonly streamingLists: StreamingLists;
  private readonly patrol = new WatchPatrol();
  /** Informers of metadata, whose shards change as well while they run. */
  private readonly ofMetadata = new Set<SharedInformer<KubernetesObject>>();
  /** Their shards: there may be hundreds of types, so shards are joined. */
  private joined: readonly JoinedShards[] = [];
  private signal?: AbortSignal;

  constructor(private readonly options: InformerFactoryOptions) {
    const { client, clock } = options;
    this.streamingLists = new StreamingLists(clock);
    const giveWay = { afterMs: METADATA_LIST_GIVES_WAY_AFTER_MS, clock };
    const limit = new ConcurrencyLimit(METADATA_LISTS_AT_ONCE, giveWay);
    this.metadataClient = {
      list: (type, listing) => limit.run(() => client.list(type, { ...listing, metadataOnly: true })),
      watch: (type, watching) => client.watch(type, { ...watching, metadataOnly: true }),
    };
  }

  /**
   * The informer of `type`, created on the first call. One requested while the factory runs starts immediately.
   * @throws IllegalStateError for two versions of one resource, whose objects would be cached twice
   */
  informerFor<T extends KubernetesObject>(type: WholeType): Informer<T> {
    return this.informerOf<T>(type);
  }

  /** The informer of a part of each object of a type: shared by callers that want the same part, and no others. */
  partialInformerFor<T extends KubernetesObject>(type: PartialType): Informer<T> {
    return this.informerOf<T>(type);
  }

  private informerOf<T extends KubernetesObject>(type: WholeType | PartialType): Informer<T> {
    const name = cacheNameOf(type);
    let informer = this.informers.get(name);
    if (informer && informer.type.version !== type.version) {
      throw new IllegalStateError(`${name} is cached as ${informer.type.version}, not as ${type.version}`);
    }
    if (informer && isOtherPart(informer.type, type))
      throw new IllegalStateError(`two parts of ${type.resource} are named ${type.part?.name}`);
    if (!informer) {
      informer = this.make(type);
      this.informers.set(name, informer);
      if (this.signal && !this.signal.aborted) this.running.push(informer.run(this.signal));
    }
    const shared: Informer = informer;
    return shared as Informer<T>;
  }

  /**
   * An informer that only keeps {@link trimToOwnership ownership data} of each object, without indexes. If all objects
   * of the type are cached anyway, that informer is returned and shared; otherwise the caller owns it, runs it and may
   * drop it. With shards it shows those of the factory while it runs; they are joined to a few that are watched as one.
   */
  metadataInformerFor(
    type: ResourceType,
    { keep = trimToOwnership, ...others }: MetadataInformerOptions = {},
  ): MetadataInformer {
    const { selections = {}, trims: _trims, ...options } = this.options;
    const name = qualifiedResource(type);
    const shared = isNarrowed(selections[name]) ? undefined : this.informers.get(name);
    if (shared) return { informer: shared, isShared: true };
    const informer = new SharedInformer<KubernetesObject>({
      ...options,
      ...(options.shards && { shards: this.joined.map(({ shard }) => shard) }),
      client: this.metadataClient,
      watchTimeoutSeconds: METADATA_WATCH_TIMEOUT_SECONDS,
      type,
      trim: keep,
      standardIndexes: false,
      maxRefusedBackoffMs: METADATA_REFUSED_BACKOFF_MS,
      ...others,
    });
    if (!options.shards || !type.namespaced) return { informer, isShared: false };
    this.forgetEnded();
    this.ofMetadata.add(informer);
    return { informer, isShared: false };
  }

  private forgetEnded(): void {
    for (const informer of this.ofMetadata) if (informer.hasEnded) this.ofMetadata.delete(informer);
  }

  /** All informers. */
  all(): readonly Informer[] {
    return [...this.informers.values()];
  }

  /** The informer of a qualified resource, if one was requested. */
  find(resource: string): Informer | undefined {
    return this.informers.get(resource);
  }

  /**
   * The versions that a cache must show to have seen every change that ours have seen, deletions included, as far as
   * they matter in `scope`.
   */
  changesSeen(
    scope: VersionScope = {},
  ): readonly { readonly type: ResourceType; readonly resourceVersion: string }[] {
    return [...this.informers.values()].flatMap((informer) => {
      const resourceVersion = informer.newestChangeIn(scope);
      return resourceVersion === undefined ? [] : [{ type: informer.type, resourceVersion }];
    });
  }

  /** All requested informers have their first list. */
  get hasSynced(): boolean {
    return this.all().every((informer) => informer.hasSynced);
  }

  /** Resolves once all informers requested so far have synced; rejects with the signal's reason. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.waitForSync(signal)));
  }

  /** Resolves once each informer requested so far has a list, or the server's answer that there is none. */
  async waitUntilSettled(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.waitUntilSettled(signal)));
  }

  /**
   * Makes all informers of namespaced types show the objects of these shards from now on, at the same moment, those of metadata
   * included; see `SharedInformer.setShards`.
   * @throws IllegalStateError for a factory that was not made with shards
   */
  setShards(shards: readonly ObjectShard[]): void {
    for (const informer of this.sharded()) informer.setShards(shards);
    this.joined = joinShards(this.joined, shards);
    const joined = this.joined.map(({ shard }) => shard);
    this.forgetEnded();
    for (const informer of this.ofMetadata) informer.setShards(joined);
  }

  /**
   * Resolves once all informers of namespaced types but those of metadata show a shard as the server has it; rejects with the signal's
   * reason.
   * @param isOptional whether the server may also have answered that there is no list of a type. @default none may
   */
  async waitUntilCurrentIn(
    shard: ObjectShard,
    signal: AbortSignal,
    isOptional: (informer: Informer) => boolean = () => false,
  ): Promise<void> {
    await Promise.all(
      this.sharded().map((informer) =>
        informer.waitUntilCurrentIn(shard, signal, { optional: isOptional(informer) }),
      ),
    );
  }

  private sharded(): readonly SharedInformer<KubernetesObject>[] {
    if (!this.options.shards) throw new IllegalStateError('these informers have no shards');
    return [...this.informers.values()].filter(({ type }) => type.namespaced);
  }

  /** Runs all informers until aborted, and resolves when all have stopped. A second call throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.signal) throw new IllegalStateError('the informers are already running');
    this.signal = signal;
    for (const informer of this.informers.values()) this.running.push(informer.run(signal));
    await aborted(signal);
    await Promise.all(this.running);
  }

  private make(type: WholeType | PartialType): SharedInformer<KubernetesObject> {
    const { trims = DEFAULT_TRIMS, selections = {}, ...shared } = this.options;
    const { patrol, streamingLists } = this;
    return new SharedInformer({
      ...shared,
      ...selections[qualifiedResource(type)],
      type,
      trim: type.part?.keep ?? trimFor(type, trims),
      ...{ patrol, streamingLists },
    });
  }
}

function isNarrowed(selection: InformerSelection | undefined): boolean {
  return Object.values(selection ?? {}).some((value) => value !== undefined && value !== '');
}

function isOtherPart(known: WholeType | PartialType, asked: WholeType | PartialType): boolean {
  return known.part?.keep !== asked.part?.keep;
}
