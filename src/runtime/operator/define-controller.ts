import type { Span } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import { z } from 'zod';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import {
  isControlledBy,
  qualifiedResource,
  DNS_1035_LABEL,
  MAX_LABEL_LENGTH,
} from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  Reconciler as SyncReconciler,
  ReconcileContext as SyncContext,
  ReconcileRequest,
  ReconcileResult,
} from '../controller/index.js';
import { dueObjects } from '../controller/index.js';
import type { EventRecorder } from '@rollkeeper/client/events';
import type { IndexFunction, Informer, Lister } from '@rollkeeper/client/informer';
import { OWNER_UID_INDEX } from '@rollkeeper/client/informer';
import type { CachedKind, Kind } from './kinds.js';
import type { Predicate } from './predicates.js';
import type { ListerOf, WatchedKind } from './watched-events.js';
import { enqueueItself, enqueueMapped, enqueueOwner } from './watched-events.js';

/**
 * The context of one sync. When it begins, the caches of this replica show every change that woke the key, and every
 * write of its former syncs, on any replica.
 */
export interface ReconcileContext<T extends KubernetesObject = KubernetesObject> extends SyncContext {
  /** The requested object from the cache; undefined if it is gone. Shared, so read-only: copy before a change. */
  readonly object: DeepReadonly<T> | undefined;
  /**
   * The caches that the controller names in `for`, `owns`, `watches` and `reads`. @throws IllegalStateError for others
   */
  readonly lister: ListerOf;
  /** The cached objects of a kind that `object` controls. */
  readonly owned: <Owned extends KubernetesObject>(kind: Kind<Owned>) => readonly DeepReadonly<Owned>[];
  /** Events for people, in `kubectl describe`. Never waits, never fails. */
  readonly events: EventRecorder;
  /** Adds the controller and the key to every line. */
  readonly logger: Logger;
  /** The span of this sync, for your own attributes and events. */
  readonly span: Span;
  readonly clock: Clock;
}

/**
 * Moves the world closer to what one object asks for: reads the caches, compares, writes through `context.client`. Must
 * be idempotent, and any await may be the last line that runs. Throwing requests a retry with backoff; TerminalError
 * requests none before the object changes; `requeueAfterMs` requests another run even if nothing changes.
 */
export interface Reconciler<T extends KubernetesObject = KubernetesObject> {
  reconcile(request: ReconcileRequest, context: ReconcileContext<T>): Promise<ReconcileResult | void>;
}

/** A kind whose changes wake the object that controls the changed one. */
export interface OwnedKind {
  readonly kind: Kind;
  /** A change must pass all of them. @default everything passes */
  readonly predicates?: readonly Predicate[];
}

/** What wakes a controller, and how it runs; see {@link defineController}. */
export interface ControllerWatches<T extends KubernetesObject> {
  /** The kind of the reconciled objects. */
  readonly for: CachedKind<T>;
  /**
   * Filters changes of those objects: a change must pass all of them. @default every change, including own status
   * writes
   */
  readonly predicates?: readonly Predicate<T>[];
  /** Kinds whose objects the reconciled ones control: a change wakes the owner. @default none */
  readonly owns?: readonly (Kind | OwnedKind)[];
  /** Kinds whose changes wake objects other than their owner, made by {@link watch}. @default none */
  readonly watches?: readonly WatchedKind[];
  /** Kinds cached for the reconciler to read; their changes wake nothing. @default none */
  readonly reads?: readonly Kind[];
  /** Called on the leader at the start of each term, before anything is queued; returns what ends it. */
  readonly whileLeading?: () => () => void;
  /** Indexes of the named caches, for {@link Lister.byIndex}, made by {@link indexBy}. @default the standard ones */
  readonly indexes?: readonly KindIndex[];
}

/** An index of the cache of a kind. */
export interface KindIndex {
  readonly kind: CachedKind;
  /** Unique in the cache; controllers that name the same function share the index. */
  readonly name: string;
  readonly valuesOf: IndexFunction<KubernetesObject>;
}

/** Indexes the cache of `kind` by the results of `valuesOf`. */
export function indexBy<T extends KubernetesObject>(
  kind: CachedKind<T>,
  name: string,
  valuesOf: IndexFunction<T>,
): KindIndex {
  return { kind, name, valuesOf: valuesOf as unknown as IndexFunction<KubernetesObject> };
}

export interface ControllerTuning<T extends KubernetesObject = KubernetesObject> {
  /** Names the queue, spans, metrics and log lines; lower-case words with hyphens, unique in a manager. */
  readonly name: string;
  /** Concurrent keys on one replica. @default 5 */
  readonly workers?: number;
  /** Time limit of one sync, milliseconds, before its signal aborts and it is retried. @default 120000 */
  readonly syncTimeoutMs?: number;
  /**
   * Whether the object alone shows that a sync is due (`observedGeneration` is behind, say). The leader checks from
   * time to time, and queues lost keys. Must be cheap. @default no check
   */
  readonly isDue?: (object: DeepReadonly<T>) => boolean;
}

/** A controller as its author writes it. */
export interface ControllerSpec<T extends KubernetesObject>
  extends ControllerTuning<T>, ControllerWatches<T>, Reconciler<T> {}

const tuning = z.object({
  name: z
    .string()
    .max(MAX_LABEL_LENGTH)
    .regex(new RegExp(`^${DNS_1035_LABEL}$`), 'must be lower-case letters, digits and hyphens'),
  workers: z.int().min(1).max(10_000).default(5),
  syncTimeoutMs: z.int().min(1).optional(),
});

/**
 * Defines a controller for `manager.add`. Nothing runs before the manager does.
 * @throws InvalidOptionError naming the option
 */
export function defineController<T extends KubernetesObject>(spec: ControllerSpec<T>): ControllerDefinition {
  const { name, syncTimeoutMs, workers } = compileOptions(tuning, spec, 'controller');
  return {
    name,
    type: spec.for,
    defaultWorkers: workers,
    syncTimeoutMs,
    build: (dependencies) => build(spec, dependencies),
  };
}

function build<T extends KubernetesObject>(
  spec: ControllerSpec<T>,
  dependencies: ControllerDependencies,
): BuiltController {
  const { indexes = [], isDue, owns = [], reads = [], watches = [] } = spec;
  const caches = new NamedCaches(spec.name, dependencies);
  const own = caches.informerOf(spec.for);
  const owned = owns
    .map((entry): OwnedKind => ('resource' in entry ? { kind: entry } : entry))
    .map(({ kind, predicates = [] }) => ({ informer: caches.informerOf(kind), predicates }));
  const watched = watches.map((entry) => ({ ...entry, informer: caches.informerOf(entry.kind) }));
  for (const kind of reads) caches.informerOf(kind);
  for (const { kind, name, valuesOf } of indexes) caches.informerOf(kind).addIndex(name, valuesOf);
  return {
    reconciler: new SpecReconciler(spec, caches, own.lister, dependencies),
    watch(enqueue) {
      const removals = [
        spec.whileLeading?.() ?? (() => undefined),
        enqueueItself(own, (spec.predicates ?? []) as readonly Predicate[], enqueue),
        ...owned.map(({ informer, predicates }) =>
          enqueueOwner(own as unknown as Informer, informer, predicates, enqueue),
        ),
        ...watched.map(({ informer, initially, map, predicates }) =>
          enqueueMapped({
            ...{ informer, initially, predicates, enqueue },
            map: (object) => map(object, caches.listerOf),
          }),
        ),
      ];
      return () => removals.forEach((remove) => remove());
    },
    ...(isDue ? { due: () => dueObjects(own.lister, isDue) } : {}),
  };
}

/**
 * The caches that a controller has named, and no others: the start does not wait for another one, so it would be empty
 * at first.
 */
class NamedCaches {
  private readonly informers = new Map<string, Informer>();

  constructor(
    private readonly controller: string,
    private readonly dependencies: Pick<ControllerDependencies, 'informers'>,
  ) {}

  /** @throws IllegalStateError for a second cache of a kind: a lister would be ambiguous */
  informerOf<T extends KubernetesObject>(kind: CachedKind<T>): Informer<T> {
    const { informers } = this.dependencies;
    const informer = kind.part ? informers.partialInformerFor<T>(kind) : informers.informerFor<T>(kind);
    const name = qualifiedResource(kind);
    if ((this.informers.get(name) ?? informer) !== informer)
      throw new IllegalStateError(`${this.controller} names ${kind.resource} both whole and in part`);
    this.informers.set(name, informer);
    return informer;
  }

  readonly listerOf: ListerOf = <T extends KubernetesObject>(kind: CachedKind<T>): Lister<T> => {
    const informer = this.informers.get(qualifiedResource(kind));
    if (!informer)
      throw new IllegalStateError(
        `${this.controller} caches no ${kind.resource}: name the kind in owns, watches or reads`,
      );
    return informer.lister as unknown as Lister<T>;
  };
}

/** Adapts the author's reconciler: adds the rest of its context. */
class SpecReconciler<T extends KubernetesObject> implements SyncReconciler {
  constructor(
    private readonly spec: Pick<ControllerSpec<T>, 'reconcile'>,
    private readonly caches: NamedCaches,
    private readonly own: Lister<T>,
    private readonly dependencies: ControllerDependencies,
  ) {}

  async reconcile(request: ReconcileRequest, sync: SyncContext): Promise<ReconcileResult> {
    const result = (await this.spec.reconcile(request, this.contextOf(request, sync))) ?? {};
    const { requeueAfterMs = 0 } = result;
    if (!(requeueAfterMs >= 0 && requeueAfterMs < Infinity))
      throw new InvalidOptionError('requeueAfterMs', `${requeueAfterMs} is not a number of milliseconds`);
    return result;
  }

  private contextOf({ key }: ReconcileRequest, sync: SyncContext): ReconcileContext<T> {
    const { clock, events, logger } = this.dependencies;
    const { listerOf } = this.caches;
    const object = this.own.get(key);
    return {
      ...sync,
      object,
      lister: listerOf,
      owned: <Owned extends KubernetesObject>(kind: Kind<Owned>) => {
        const { uid } = object?.metadata ?? {};
        if (!object || uid === undefined) return [];
        return listerOf(kind)
          .byIndex(OWNER_UID_INDEX, uid)
          .filter((each) =>
            isControlledBy(each as DeepReadonly<KubernetesObject>, object as DeepReadonly<KubernetesObject>),
          );
      },
      events,
      logger: logger.child({ key }),
      span: trace.getActiveSpan() ?? trace.wrapSpanContext(NO_SPAN),
      clock,
    };
  }
}

/** Without tracing: accepts everything and keeps nothing. */
const NO_SPAN = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 };
