import type { ApiClient } from '@rollkeeper/client/api-client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { EventRecorder } from '@rollkeeper/client/events/event-recorder';
import type { MetadataInformer } from '@rollkeeper/client/informer/informer-factory';
import type { PartialType, WholeType } from '@rollkeeper/client/informer/cached-type';
import type { ContentTrim } from '@rollkeeper/client/informer/trim';
import type { Informer, ResourceEvent, Lister } from '@rollkeeper/client/informer/informer';
import type {
  DeepReadonly,
  KubernetesObject,
  LabelMatcher,
  ObjectRef,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { AddOptions } from '../work-queue/work-queue.js';
import type { QueueTuning } from '../work-queue/work-queue.options.js';
import type { InformerByResource } from './caught-up.js';
import type { SyncKey } from './reconciler.js';
import type { OwnedResource } from './settle-interruption.js';

/** Provides informers to controllers. */
export interface InformerSource {
  /**
   * The shared informer of a type; requesting it makes the manager run it. Before start only.
   * @param options.optional the controller starts even if it cannot be listed. @default false
   */
  informerFor<T extends KubernetesObject>(
    type: WholeType,
    options?: { readonly optional?: boolean },
  ): Informer<T>;
  /** The same of a part of each object: a cache of its own, however many others have the objects whole. */
  partialInformerFor<T extends KubernetesObject>(
    type: PartialType,
    options?: { readonly optional?: boolean },
  ): Informer<T>;
  /**
   * An informer with at least identity, ownership and deletion state of each object, for controllers of many types: the
   * shared one if it exists, otherwise one owned by the caller, who must run it.
   */
  metadataInformerFor(type: ResourceType): MetadataInformer;
}

/** Dependencies of a controller. */
export interface ControllerDependencies {
  readonly informers: InformerSource;
  /** The server's resource types. Objects are only read and written with the client of a sync. */
  readonly discovery: Pick<ApiClient, 'discover'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The CA of the API server, PEM. @default none: the server is trusted otherwise, or uses no TLS */
  readonly rootCa?: string;
  /** Selects this installation's workloads by label (`--selector`). @default all */
  readonly selects?: LabelMatcher;
}

/** A change that concerns a key: recorded as its cause, then added to its queue. Never blocks, never throws. */
export interface EnqueueRequest extends AddOptions {
  readonly ref: ObjectRef;
  /** The changed version, for the causality of the activation. Absent: no version to wait for. */
  readonly cause?: { readonly type: ResourceType; readonly resourceVersion: string };
  /**
   * Further versions that the request is based on, which the worker's caches must show: of the object itself, say, if
   * another one has changed. @default none
   */
  readonly mustHaveSeen?: readonly { readonly type: ResourceType; readonly resourceVersion: string }[];
  /** The change itself, for the trace. */
  readonly change?: ResourceEvent<KubernetesObject>;
  /**
   * Debounce: wait until there was no such change for this long, milliseconds, so that a burst becomes one sync. A
   * burst that does not end is cut after five times as long. @default 0
   */
  readonly delayMs?: number;
  /**
   * The change may need no sync: after the delay {@link BuiltController.needsSync} is called, and if it says no,
   * nothing is added, unless another change without this option has joined. @default false
   */
  readonly onlyIfNeeded?: boolean;
}

/** Queues a key. Never blocks, never throws. */
export type Enqueue = (request: EnqueueRequest) => void;

/** A resource that a controller wants to read but cannot, and why. */
export interface UnreadableResource {
  /** Qualified: `widgets.example.com`; or the `group/version` whose discovery fails. */
  readonly resource: string;
  readonly reason: string;
}

/**
 * Work beside the keys on the leader only, for example caches that are too large for every replica. Where slots spread the keys
 * (`perNamespace`), it runs on each replica instead, from the start to the end.
 */
export interface LeadingWork {
  /** Runs during each term of this replica's leadership: resolves on abort, rejects on a fatal error. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether it has been ready since the term began. */
  readonly isReady: boolean;
  /**
   * Resolves once changes can be watched and, if only the leader processes keys, keys can be processed; rejects with
   * the reason.
   */
  waitUntilReady(signal: AbortSignal): Promise<void>;
}

/** A controller in parts, as a manager runs it: the work on a key, and which changes concern which keys. Made by `defineController`. */
export interface BuiltController {
  readonly sync: SyncKey;
  /** Called on the replica that leads, each time it begins to lead; returns the unsubscribe. */
  watch(enqueue: Enqueue): () => void;
  /** @default nothing */
  readonly leading?: LeadingWork;
  /**
   * By qualified resource, the informers that its syncs depend on and wait for, if they are not the shared ones.
   * @default the shared ones
   */
  informerOf?: InformerByResource;
  /** Resources that it wants to read but cannot, and works without. @default none */
  unreadable?(): readonly UnreadableResource[];
  /** Figures for `/admin/status`, for example about its caches. @default none */
  figures?(): Readonly<Record<string, number>>;
  /**
   * Due syncs that can be derived from the caches alone, for the sweep that finds lost keys. Must be cheap. @default
   * none
   */
  due?(): Iterable<DueWork>;
  /**
   * The object that gets the Event when the key is parked.
   * @default the one of the definition's `type` that the key names, if it is cached
   */
  objectOf?(key: string): DeepReadonly<KubernetesObject> | undefined;
  /**
   * Whether a sync of the key would do or wait for anything, judged by the caches: decides only. Every later change
   * asks again, so "no" loses nothing. Must be cheap. @default always
   */
  needsSync?(key: string): boolean;
  /** The kinds whose objects the reconciled ones control. @default none */
  readonly owns?: readonly OwnedResource[];
}

/** The namespace of the object that a key names. */
export type NamespaceOf = (this: void, key: ObjectRef) => string | undefined;

/** A key with a due sync. */
export interface DueWork {
  readonly ref: ObjectRef;
  /** The resourceVersion of the object that shows it. */
  readonly resourceVersion: string | undefined;
}

/** Under it a definition keeps how the controller is made: that is `defineController`'s business, and no one else's. */
export const CONSTRUCT: unique symbol = Symbol('rollkeeper:construct');

/** The writes of a controller to a kind, for the roles that it needs. */
export interface WriteRight {
  readonly kind: ResourceType;
  /** @default all of them */
  readonly verbs?: readonly ('create' | 'update' | 'patch' | 'delete')[];
  /** `status`, `finalizers`, `scale`, `eviction`. @default none */
  readonly subresources?: readonly string[];
}

/** Under it a definition says which rights it needs. Found by tools that have another copy of this module. */
export const RIGHTS: unique symbol = Symbol.for('rollkeeper:rights') as never;

/** A controller that a manager can run, made by `defineController`. */
export interface ControllerDefinition {
  /** For example `deployment`: names the queue, the spans and the `--controllers` entry. */
  readonly name: string;
  /** Other names accepted by `--controllers` and `--workers`. @default none */
  readonly aliases?: readonly string[];
  /** The component of its Events, if the genuine controller uses another. @default NAME-controller */
  readonly eventSource?: string;
  /** The type of the reconciled objects. */
  readonly type: ResourceType;
  /** Workers on one replica. */
  readonly defaultWorkers: number;
  /**
   * It needs to see the whole cluster, so namespaces or labels cannot limit it: it would consider unseen objects
   * deleted. @default false
   */
  readonly needsWholeCluster?: boolean;
  /**
   * Its service account, if each controller has its own; null: it works with the replica's credentials in any case.
   * @default `NAME-controller`
   */
  readonly serviceAccount?: string | null;
  /** Time limit of one sync, milliseconds; see `ControllerOptions`. @default 120000 */
  readonly syncTimeoutMs?: number;
  /**
   * The replicas that process keys: `leader`, if its caches are too large for every replica. Informers requested while
   * building it are warm on all replicas in either case. @default 'all'
   */
  readonly worksOn?: 'all' | 'leader';
  /**
   * Whether a sync reads, of objects in namespaces, those of its key's namespace alone, and its changes wake keys of their own namespace alone.
   * Then slots may spread its keys: each replica caches the namespaces of its slots, and works on them; `leading` runs on each of them.
   * Keys without a namespace are in one slot as well, whose replica works on them.
   * @default false
   */
  readonly perNamespace?: boolean;
  /**
   * The namespace of the object that a key names, where keys are not the names of objects of `type`. Undefined: it has none.
   * @default that of the key
   */
  readonly namespaceOf?: NamespaceOf;
  /**
   * The queue in which its keys wait. `shared`: all replicas take them from one queue. `local`: in the memory of the
   * leader, which alone processes them (`worksOn` is `leader`); it needs no connection and no timer while idle. Keys
   * lost with a former leader are found again by the next leader's initial list. @default 'shared'
   */
  readonly queue?: 'shared' | 'local';
  /** How failures come back. @default backoff from 5 ms, parked after 15 in a row */
  readonly queueing?: QueueTuning;
  /**
   * The installations in which `*` includes it: all, or only those without a kube-controller-manager, which would do
   * the same.
   * @default 'everywhere'
   */
  readonly byDefault?: 'everywhere' | 'standalone';
  /** The parts of a type that its caches keep, by `qualifiedResource`, if not the shared default. @default none */
  readonly trims?: ReadonlyMap<string, ContentTrim>;
  /** Absent: not known. */
  readonly [RIGHTS]?: () => readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly [CONSTRUCT]: (dependencies: ControllerDependencies) => BuiltController;
}

/** One life of a controller. Nothing runs yet. */
export function buildController(
  definition: ControllerDefinition,
  dependencies: ControllerDependencies,
): BuiltController {
  return definition[CONSTRUCT](dependencies);
}

/** The cached objects for which `isDue` says that a sync is due, if their own keys are the controller's. */
export function* dueObjects<T extends KubernetesObject>(
  lister: Pick<Lister<T>, 'list'>,
  isDue: (object: DeepReadonly<T>) => boolean,
): Generator<DueWork> {
  for (const object of lister.list()) {
    const { name, namespace, resourceVersion } = object.metadata;
    if (isDue(object)) yield { ref: { name, namespace }, resourceVersion };
  }
}
