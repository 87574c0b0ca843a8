import type { Clock, RandomSource } from '../clock/index.js';
import { IllegalStateError } from '../errors/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import { qualifiedResource } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import type { Informer, VersionScope } from './informer.js';
import type { ListWatcher } from './list-everything.js';
import { SharedInformer } from './shared-informer.js';
import type { SharedInformerOptions } from './shared-informer.options.js';
import { StreamingLists } from './streaming-lists.js';
import type { Trim } from './trim.js';
import { DEFAULT_TRIMS, trimFor } from './trim.js';

/** Which objects of one type are wanted; unset means all. */
export interface InformerSelection {
  labelSelector?: string;
  fieldSelector?: string;
}

export interface InformerFactoryOptions extends Pick<
  SharedInformerOptions<KubernetesObject>,
  | 'namespaces'
  | 'freeze'
  | 'resyncPeriodMs'
  | 'pageSize'
  | 'watchTimeoutSeconds'
  | 'idleGraceMs'
  | 'doubtAfterMs'
  | 'firstBackoffMs'
  | 'maxBackoffMs'
> {
  client: ListWatcher;
  clock: Clock;
  random: RandomSource;
  logger: Logger;
  /** By `qualifiedResource`. @default everything */
  selections?: Readonly<Record<string, InformerSelection>>;
  /** By `qualifiedResource`; a type that is missing only loses its managedFields. @default DEFAULT_TRIMS */
  trims?: ReadonlyMap<string, Trim>;
}

/** One shared informer per resource type, all run together: the controllers' `InformerSource`. */
export class InformerFactory {
  private readonly informers = new Map<string, SharedInformer<KubernetesObject>>();
  private readonly running: Promise<void>[] = [];
  private readonly streamingLists: StreamingLists;
  private signal?: AbortSignal;

  constructor(private readonly options: InformerFactoryOptions) {
    this.streamingLists = new StreamingLists(options.clock);
  }

  /**
   * The informer of `type`, made on first asking. One that is asked for while the factory runs is started at once.
   * @throws IllegalStateError for two versions of one resource, whose objects would be cached twice
   */
  informerFor<T extends KubernetesObject>(type: ResourceType): Informer<T> {
    const name = qualifiedResource(type);
    let informer = this.informers.get(name);
    if (informer && informer.type.version !== type.version) {
      throw new IllegalStateError(`${name} is cached as ${informer.type.version}, not as ${type.version}`);
    }
    if (!informer) {
      informer = this.make(type, name);
      this.informers.set(name, informer);
      if (this.signal && !this.signal.aborted) this.running.push(informer.run(this.signal));
    }
    return informer as unknown as Informer<T>;
  }

  /** Every informer there is. */
  all(): readonly Informer[] {
    return [...this.informers.values()];
  }

  /** What a cache must show to have seen every deletion that ours have seen, as far as they matter in `scope`. */
  deletionsSeen(
    scope: VersionScope = {},
  ): readonly { readonly type: ResourceType; readonly resourceVersion: string }[] {
    return [...this.informers.values()].flatMap((informer) => {
      const resourceVersion = informer.newestDeletionIn(scope);
      return resourceVersion === undefined ? [] : [{ type: informer.type, resourceVersion }];
    });
  }

  /** All informers that were asked for have their first list. */
  get hasSynced(): boolean {
    return this.all().every((informer) => informer.hasSynced);
  }

  /** Resolves once all informers asked for so far have synced; rejects with the signal's reason. */
  async waitForSync(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.waitForSync(signal)));
  }

  /** Runs all informers until aborted, and resolves when all have stopped. A second call throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.signal) throw new IllegalStateError('the informers run already');
    this.signal = signal;
    for (const informer of this.informers.values()) this.running.push(informer.run(signal));
    await aborted(signal);
    await Promise.all(this.running);
  }

  private make(type: ResourceType, name: string): SharedInformer<KubernetesObject> {
    const { trims = DEFAULT_TRIMS, selections = {}, ...shared } = this.options;
    const { streamingLists } = this;
    return new SharedInformer({
      ...shared,
      ...selections[name],
      type,
      trim: trimFor(type, trims),
      streamingLists,
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
