import type { Span } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject, Kind } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { IndexFunction, ResourceEvent } from '@rollkeeper/client/informer';
import type {
  BuiltController,
  ControllerDefinition,
  DueWork,
  Enqueue,
  EnqueueRequest,
  LeadingWork,
  ReconcileRequest,
  ReconcileResult,
  SyncAccess,
  WriteRight,
} from '../../controller/index.js';
import type { CachedKind } from '../kinds/kinds.js';
import type { Predicate } from './predicates.js';
import type { SyncSteps } from './sync-steps.js';
import type { ListerOf, OwnedKind, Urgency, WatchedKind } from './watched-events.js';

/**
 * The context of one sync. When it begins, the caches of this replica show every change that woke the key, and every
 * write of its former syncs, on any replica.
 */
export interface ReconcileContext<T extends KubernetesObject = KubernetesObject> extends SyncAccess {
  /**
   * The requested object from the cache; undefined if it no longer exists. Shared, so read-only: copy it before a
   * change.
   */
  readonly object: DeepReadonly<T> | undefined;
  /** The caches that the controller has named in `for`, `owns`, `watches` and `reads`. @throws IllegalStateError for others */
  readonly lister: ListerOf;
  /** The cached objects of a kind that `object` controls. */
  readonly owned: <Owned extends KubernetesObject>(kind: Kind<Owned>) => readonly DeepReadonly<Owned>[];
  /** Events for people, in `kubectl describe`. Never waits, never fails. */
  readonly events: EventRecorder;
  /** With the controller and the key in every line. */
  readonly logger: Logger;
  /** The span of this sync: for attributes and events of one's own. */
  readonly span: Span;
  readonly clock: Clock;
}

/**
 * Moves the world closer to what one object asks for: reads the caches, compares, writes through `context.client`. Must
 * be idempotent, and any await may be the last line that runs. Throwing requests a retry with backoff; TerminalError
 * requests none before the object changes; `requeueAfterMs` requests another run even if nothing changes. Its writes
 * are its decision, for the trace and `explain`.
 */
export interface Reconciler<T extends KubernetesObject = KubernetesObject> {
  reconcile(request: ReconcileRequest, context: ReconcileContext<T>): Promise<ReconcileResult | void>;
}

/**
 * A reconciler in three steps. `observe` reads everything that the decision depends on. `decide` is pure, so tests can
 * call it with plain values. `act` carries out the decision. The decision is in the span, the log and the explanations
 * before anything is written.
 *
 * If `act` finds that what was observed is outdated, it returns the current state as `{ seen }`, and `decide` runs
 * again. `observe` and `act` throw and requeue as described for {@link Reconciler}.
 */
export type DecidingReconciler<
  T extends KubernetesObject = KubernetesObject,
  Seen = unknown,
  Plan = unknown,
> = SyncSteps<Seen, Plan, ReconcileContext<T>>;

/** The keys that a controller processes, if not all of them. */
export interface KeyLimit {
  /** One that is not included is neither queued nor synced, and what it has stored of intents is dropped. Must be cheap. */
  includes(key: string): boolean;
  /** The resourceVersions that a sync must have seen for `includes` to say the same there. @default nothing */
  restsOn?(key: string): NonNullable<EnqueueRequest['mustHaveSeen']>;
}

/** An index of the cache of a kind. */
export interface KindIndex {
  readonly kind: CachedKind;
  /** Unique in the cache; controllers that name the same function share the index. */
  readonly name: string;
  readonly valuesOf: IndexFunction<KubernetesObject>;
}

/** Lets the cache of `kind` find objects by what `valuesOf` says of them. */
export function indexBy<T extends KubernetesObject>(
  kind: CachedKind<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): KindIndex {
  return { kind, name, valuesOf: valuesOf as IndexFunction<KubernetesObject> };
}

/** The changes that wake a controller, and what it says of itself; see `defineController`. Each field is left out by most. */
export interface ControllerChoices<T extends KubernetesObject = KubernetesObject> {
  /**
   * The changes of the objects of `for` that count: all of these must let one pass. @default every change, the own
   * status writes included
   */
  readonly predicates?: readonly Predicate<T>[];
  /**
   * How soon such a change becomes a sync; undefined: not at all.
   * @default additions, deletions and user changes first; a status as it comes; existing objects at the start last
   */
  readonly urgency?: (event: ResourceEvent<T>) => Urgency | undefined;
  /** Kinds whose objects the reconciled ones control: a change wakes the owner. More than the kind is said by `own`. @default none */
  readonly owns?: readonly (Kind | OwnedKind)[];
  /** Kinds whose changes wake others than their owner, made by `watch`. @default none */
  readonly watches?: readonly WatchedKind[];
  /** Kinds that are cached for the reconciler to read, and wake nothing. @default none */
  readonly reads?: readonly Kind[];
  /** Indexes of named caches, for `Lister.byIndex`, made by {@link indexBy}. @default the standard ones */
  readonly indexes?: readonly KindIndex[];
  /**
   * Called on the leader each time its term begins, before anything is queued. Returns a function that ends it.
   * @param enqueue queues keys for changes that no kind shows. Never blocks, never throws
   */
  readonly whileLeading?: (enqueue: Enqueue) => () => void;
  /**
   * Whether the object alone shows that a sync is due (`observedGeneration` is behind, say). The leader checks from
   * time to time, and queues lost keys. Must be cheap. @default no check
   */
  readonly isDue?: (object: DeepReadonly<T>) => boolean;
  /** The same where keys are not the names of objects of `for`. @default by `isDue` */
  readonly due?: () => Iterable<DueWork>;
  /**
   * Whether a sync of the key would do or wait for anything, judged by the caches: called before an `onlyIfNeeded`
   * change becomes a sync. Every later change asks again, so "no" loses nothing. Must be cheap. @default always
   */
  readonly needsSync?: (key: string) => boolean;
  /** @default all keys */
  readonly limit?: KeyLimit;
  /**
   * Finds what a key names, where keys are not the names of objects of `for`: then no cache of that kind is kept, and nothing of it
   * wakes. @default the cached object of `for`
   */
  readonly objectOf?: (key: string) => DeepReadonly<T> | undefined;
  /**
   * The work that runs beside the keys on the replica that leads, and with slots and `perNamespace` on each: caches that are too big for
   * every replica, say.
   * @default nothing
   */
  readonly leading?: LeadingWork;
  /** The informers that syncs wait for, by qualified resource, where `leading` has its own. @default the named caches */
  readonly informerOf?: BuiltController['informerOf'];
  /** The kinds that it would read, cannot, and does without. @default what cannot be listed of the named kinds */
  readonly unreadable?: BuiltController['unreadable'];
  /** Numbers about itself for `/admin/status`. @default none */
  readonly figures?: BuiltController['figures'];
}

/** The work of an object, of a class of one's own, say, as a part of a spec: `{ for: Website, ...workOf(new WebsiteReconciler(dns)) }`. */
export function workOf<T extends KubernetesObject, Seen, Plan>(
  reconciler: DecidingReconciler<T, Seen, Plan>,
): DecidingReconciler<T, Seen, Plan>;
export function workOf<T extends KubernetesObject>(reconciler: Reconciler<T>): Reconciler<T>;
export function workOf<T extends KubernetesObject>(
  reconciler: Reconciler<T> | DecidingReconciler<T>,
): Reconciler<T> | DecidingReconciler<T> {
  if ('reconcile' in reconciler)
    return { reconcile: (request, context) => reconciler.reconcile(request, context) };
  return {
    observe: (request, context) => reconciler.observe(request, context),
    decide: (seen) => reconciler.decide(seen),
    act: (plan, context) => reconciler.act(plan, context),
  };
}

/**
 * All of a controller but its name and its place, which may depend on what it is built from. It processes a key either in one
 * step or in three.
 */
export type ControllerBehaviour<
  T extends KubernetesObject = KubernetesObject,
  Seen = unknown,
  Plan = unknown,
> = ControllerChoices<T> &
  (
    | (Reconciler<T> & { readonly observe?: never; readonly decide?: never; readonly act?: never })
    | (DecidingReconciler<T, Seen, Plan> & { readonly reconcile?: never })
  );

/** The facts of a controller that are known before it is built. */
export interface ControllerTraits<T extends KubernetesObject = KubernetesObject> extends Pick<
  ControllerDefinition,
  | 'aliases'
  | 'byDefault'
  | 'eventSource'
  | 'namespaceOf'
  | 'needsWholeCluster'
  | 'perNamespace'
  | 'queue'
  | 'queueing'
  | 'serviceAccount'
  | 'syncTimeoutMs'
  | 'trims'
  | 'worksOn'
> {
  /** Names the queue, spans, metrics and log lines; lower-case words with hyphens, and unique in a manager. */
  readonly name: string;
  /** The kind whose objects are reconciled. */
  readonly for: CachedKind<T>;
  /** Keys processed concurrently on one replica. @default 5 */
  readonly workers?: number;
  /**
   * Whether an object with the annotation `rollkeeper.dev/paused: 'true'` is left alone until the annotation is
   * removed. This includes its deletion.
   * @default false
   */
  readonly pausable?: boolean;
  /**
   * The writes of the controller, for `rollkeeper generate rbac`: `[{ kind: Website, verbs: ['patch'], subresources:
   * ['status'] }]`. @default nothing
   */
  readonly writes?: readonly WriteRight[];
}
