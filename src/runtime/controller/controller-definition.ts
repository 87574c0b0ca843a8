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
import type { InformerByResource } from './caught-up.js';
import type { SyncKey } from './reconciler.js';

/** Gives informers to controllers. */
export interface InformerSource {
  /**
   * The shared informer of a type; asking is what makes the manager run it. Before start only.
   * @param options.optional the controller starts without it, where it cannot be listed. @default false
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
   * An informer that shows of each object at least who it is, who owns it and whether it may go, for who looks at many
   * types: the shared one where there is one, else one of the caller's own, to be run for as long as it is wanted.
   */
  metadataInformerFor(type: ResourceType): MetadataInformer;
}

/** Everything a controller is built from. */
export interface ControllerDependencies {
  readonly informers: InformerSource;
  /** Which types the server has. Objects are read and written by the client that a sync is given, and no other. */
  readonly discovery: Pick<ApiClient, 'discover'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The authority behind the API server's certificate, PEM. @default none: the server is trusted otherwise, or speaks no TLS */
  readonly rootCa?: string;
  /** Which workloads this installation works on, by their labels (`--selector`). @default all */
  readonly selects?: LabelMatcher;
}

/** A change that concerns a key: recorded as its cause, then added to its queue. Never blocks, never throws. */
export interface EnqueueRequest extends AddOptions {
  readonly ref: ObjectRef;
  /** What changed, for the causality of the activation. Absent: nothing to wait for. */
  readonly cause?: { readonly type: ResourceType; readonly resourceVersion: string };
  /**
   * What else the wish to look rests on, that its caches must show to whoever looks: the object itself, say, where it is
   * another one that changed. @default nothing
   */
  readonly mustHaveSeen?: readonly { readonly type: ResourceType; readonly resourceVersion: string }[];
  /** The change itself: what happened to which object, for the trace. */
  readonly change?: ResourceEvent<KubernetesObject>;
  /**
   * Wait until no such change has come for this long, milliseconds, so that a burst of them becomes one sync. One
   * that does not end is cut after five times as long. @default 0
   */
  readonly delayMs?: number;
  /**
   * Where nothing may follow from the change: when the wait is over, {@link BuiltController.needsSync} is asked, and
   * without need nothing is added, unless another change joined that is always worth a sync. @default false
   */
  readonly onlyIfNeeded?: boolean;
}

export type Enqueue = (request: EnqueueRequest) => void;

/** A resource that a controller would read and cannot, and why. */
export interface UnreadableResource {
  /** Qualified: `widgets.example.com`; or the `group/version` whose discovery fails. */
  readonly resource: string;
  readonly reason: string;
}

/** What a controller keeps running where it leads, beside its keys: caches that are too big for every replica, say. */
export interface LeadingWork {
  /** Runs while this replica leads, each time anew: resolves on abort, rejects on a fatal error. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether that is so, and has been since this replica leads. */
  readonly isReady: boolean;
  /** Resolves once the changes may be watched and, where only the leader does, keys be worked on; rejects with the reason. */
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
   * The informers that its syncs go by, by qualified resource, and so wait for; where it has others than the shared ones.
   * @default the shared ones
   */
  informerOf?: InformerByResource;
  /** What it would read, cannot, and does without. @default nothing */
  unreadable?(): readonly UnreadableResource[];
  /** Numbers about itself for `/admin/status`, what it caches say. @default none */
  figures?(): Readonly<Record<string, number>>;
  /**
   * What the caches show on their own of syncs that are due, for the sweep that looks for lost keys; leaves out what one
   * cannot tell. Must be cheap. @default nothing
   */
  due?(): Iterable<DueWork>;
  /**
   * The object that people look at when the key is parked.
   * @default the one of the definition's `type` that the key names, if it is cached
   */
  objectOf?(key: string): DeepReadonly<KubernetesObject> | undefined;
  /**
   * Whether a sync of the key would do anything, or wait for anything, by what the caches show: decided, not carried out.
   * Every later change asks again, so "no" loses nothing. Must be cheap. @default always
   */
  needsSync?(key: string): boolean;
}

/** A key of which a sync is due. */
export interface DueWork {
  readonly ref: ObjectRef;
  /** Of the object that shows it. */
  readonly resourceVersion: string | undefined;
}

/** Under it a definition keeps how the controller is made: that is `defineController`'s business, and no one else's. */
export const CONSTRUCT: unique symbol = Symbol('rollkeeper:construct');

/** A controller that a manager can run, made by `defineController`. */
export interface ControllerDefinition {
  /** For example `deployment`: names the queue, the spans and the `--controllers` entry. */
  readonly name: string;
  /** Other names that `--controllers` and `--workers` know it by. @default none */
  readonly aliases?: readonly string[];
  /** What its Events are signed with, where the genuine controller signs otherwise. @default NAME-controller */
  readonly eventSource?: string;
  /** The type of the objects whose keys are reconciled. */
  readonly type: ResourceType;
  /** Workers on one replica. */
  readonly defaultWorkers: number;
  /**
   * It has to see everything there is, so that it can be limited neither to namespaces nor by labels: what it does not see it
   * would take for gone. @default false
   */
  readonly needsWholeCluster?: boolean;
  /** The service account that it works as, where each controller has its own. @default `NAME-controller` */
  readonly serviceAccount?: string;
  /** How long one sync may take, milliseconds; see `ControllerOptions`. @default 120000 */
  readonly syncTimeoutMs?: number;
  /**
   * Which replicas work on keys: `leader`, for one whose caches are too big to be kept on each. What all replicas cache
   * (the informers that it asked for while it was built) is warm in either case. @default 'all'
   */
  readonly worksOn?: 'all' | 'leader';
  /**
   * Where its keys wait. `shared`: where all replicas take them from. `local`: in the memory of the replica that leads, which
   * alone works on them (`worksOn` is `leader`); it costs no connection and no timer while there is nothing to do. What a former
   * leader still had in it is found again by the first look of the next one at everything there is. @default 'shared'
   */
  readonly queue?: 'shared' | 'local';
  /**
   * Where `*` stands for it: everywhere, or only where no kube-controller-manager works beside, which would do the same.
   * @default 'everywhere'
   */
  readonly byDefault?: 'everywhere' | 'standalone';
  /** What its caches keep of a type, by `qualifiedResource`, where that is not what they keep for everybody. @default none */
  readonly trims?: ReadonlyMap<string, ContentTrim>;
  readonly [CONSTRUCT]: (dependencies: ControllerDependencies) => BuiltController;
}

/** One life of a controller. Nothing runs yet. */
export function buildController(
  definition: ControllerDefinition,
  dependencies: ControllerDependencies,
): BuiltController {
  return definition[CONSTRUCT](dependencies);
}

/** The cached objects of which `isDue` says that a sync is due, where their own keys are the controller's. */
export function* dueObjects<T extends KubernetesObject>(
  lister: Pick<Lister<T>, 'list'>,
  isDue: (object: DeepReadonly<T>) => boolean,
): Generator<DueWork> {
  for (const object of lister.list()) {
    const { name, namespace, resourceVersion } = object.metadata;
    if (isDue(object)) yield { ref: { name, namespace }, resourceVersion };
  }
}
