import type { DeepReadonly, KubernetesObject, ObjectRef, Kind } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Enqueue, EnqueueRequest } from '../../controller/index.js';
import type { Informer, Lister, ResourceEvent } from '@rollkeeper/client/informer';
import { findAdopters, findOwner, ownerRefOf } from './find-owners.js';
import type { CachedKind } from '../kinds/kinds.js';
import type { Predicate } from './predicates.js';

type Readable = DeepReadonly<KubernetesObject>;

/** Returns the caches that a controller has named; see `ControllerChoices.reads`. @throws IllegalStateError for others */
export type ListerOf = <T extends KubernetesObject>(kind: CachedKind<T>) => Lister<T>;

/** How soon a change becomes a sync, and as what it counts there. @default at once, as `child-change` */
export type Urgency = Pick<EnqueueRequest, 'priority' | 'reason' | 'delayMs' | 'onlyIfNeeded'>;

/**
 * The relation of an object to a child that has changed: its owner now or before, or one whose selector selects the
 * orphan that it is.
 */
export type OwnerRelation = 'owner' | 'former-owner' | 'adopter';

/** A kind whose changes wake the object that controls the changed one. */
export interface OwnedKind {
  readonly kind: Kind;
  /** All must let a change pass. @default everything passes */
  readonly predicates?: readonly Predicate[];
  /**
   * Whether objects that nothing controls wake those whose `spec.selector` selects them. The cache of `for` has {@link SELECTOR_INDEX}
   * then. @default false
   */
  readonly adoptable?: boolean;
  /**
   * Whether the owner's `spec.selector` selects all objects that it controls. After an interrupted sync only the selected ones are then read
   * again, and not all of the namespace. @default as `adoptable`
   */
  readonly selected?: boolean;
  /**
   * How soon a change wakes an owner; undefined: not at all. Where it is given, only owners that are cached are woken.
   * @default at once, whether the owner is cached or not
   */
  urgency?(
    this: void,
    event: ResourceEvent<KubernetesObject>,
    owner: Readable,
    relation: OwnerRelation,
  ): Urgency | undefined;
}

/** The options of {@link own}. */
export interface OwnOptions<
  Owned extends KubernetesObject = KubernetesObject,
  T extends KubernetesObject = KubernetesObject,
> {
  readonly predicates?: readonly Predicate<Owned>[];
  /** See {@link OwnedKind.adoptable}. */
  readonly adoptable?: boolean;
  /** See {@link OwnedKind.selected}. */
  readonly selected?: boolean;
  /** See {@link OwnedKind.urgency}. */
  readonly urgency?: (
    event: ResourceEvent<Owned>,
    owner: DeepReadonly<T>,
    relation: OwnerRelation,
  ) => Urgency | undefined;
}

/**
 * An entry of `owns` with more to say than its kind.
 * @example own(Pod, { adoptable: true, urgency: ({ type }) => (type === 'deleted' ? {} : { delayMs: 100 }) })
 */
export function own<Owned extends KubernetesObject, T extends KubernetesObject = KubernetesObject>(
  kind: Kind<Owned>,
  options: OwnOptions<Owned, T>,
): OwnedKind {
  return { ...options, kind } as OwnedKind;
}

/** A kind whose changes wake the keys that `map` names. */
export interface WatchedKind {
  readonly kind: CachedKind;
  readonly predicates: readonly Predicate[];
  /** @default at once, as `child-change` */
  readonly urgency?: Urgency;
  /** Whether the controller starts without it, where it cannot be listed. @default false */
  readonly optional?: boolean;
  /** Whether a sync that it wakes waits until its cache shows the change. @default true */
  readonly mustBeSeen?: boolean;
  /**
   * Whether existing objects wake them too when the replica begins to lead, for keys that nothing else would wake.
   * @default false: the reconciled objects are woken then anyway
   */
  readonly initially?: boolean;
  map(this: void, object: Readable, listerOf: ListerOf): Iterable<ObjectRef>;
}

/**
 * Changes of `kind` wake the objects that `map` names, for example those that refer to the changed object. For a
 * modification both states are mapped, so that an object with a removed reference is woken too. `map` must be quick and
 * must not throw.
 * @example watch(Secret, (secret, listerOf) => listerOf(Website).list().filter(uses(secret)).map(({ metadata }) =>
 *   metadata))
 */
export function watch<T extends KubernetesObject>(
  kind: CachedKind<T>,
  map: (object: DeepReadonly<T>, listerOf: ListerOf) => Iterable<ObjectRef>,
  ...predicates: readonly Predicate<T>[]
): WatchedKind {
  return { kind, map, predicates: predicates as readonly Predicate[] };
}

/**
 * Wakes the object itself.
 * @param urgencyOf undefined: not at all
 */
export function enqueueItself<T extends KubernetesObject>(
  informer: Informer<T>,
  predicates: readonly Predicate<T>[],
  urgencyOf: (event: ResourceEvent<T>) => Urgency | undefined,
  enqueue: Enqueue,
): () => void {
  return informer.addEventHandler((event) => {
    if (!predicates.every((predicate) => predicate(event))) return;
    const urgency = urgencyOf(event);
    if (!urgency) return;
    enqueue({ ref: refOf(event.object), cause: causeOf(informer, event), change: event, ...urgency });
  });
}

/** Additions, deletions and user changes have high priority; status and other changes have normal priority. */
export function usualUrgency<T extends KubernetesObject>(event: ResourceEvent<T>): Urgency {
  if (event.type === 'added' && event.initial) return { priority: 'low', reason: 'initial-list' };
  return isByUser(event)
    ? { priority: 'high', reason: 'user-change' }
    : { priority: 'normal', reason: 'child-change' };
}

interface OwnedEvents extends Omit<OwnedKind, 'kind'> {
  readonly owner: Informer;
  readonly informer: Informer;
  readonly enqueue: Enqueue;
}

/** Wakes the objects of `owner` that control the changed ones, before or after the change, or might adopt them. */
export function enqueueOwner({
  adoptable = false,
  enqueue,
  informer,
  owner: { lister, type },
  predicates = [],
  urgency,
}: OwnedEvents): () => void {
  const wake = (event: ResourceEvent<KubernetesObject>, ref: ObjectRef, how: Urgency = {}): void =>
    enqueue({ ref, cause: causeOf(informer, event), change: event, reason: 'child-change', ...how });
  const wakeCached = (
    event: ResourceEvent<KubernetesObject>,
    found: Readable | undefined,
    relation: OwnerRelation,
  ): void => {
    const how = found && (urgency ? urgency(event, found, relation) : {});
    if (found && how) wake(event, refOf(found), how);
  };
  const wakeOwner = (
    event: ResourceEvent<KubernetesObject>,
    child: Readable,
    relation: OwnerRelation,
  ): void => {
    if (urgency) return wakeCached(event, findOwner(child, type, lister), relation);
    const named = ownerRefOf(child, type);
    const cached = named && lister.get(keyOf(named.ref));
    // If the cache has another object of that name, the owner was deleted, and the child will be deleted as well.
    if (named && (!cached || cached.metadata.uid === named.uid)) wake(event, named.ref);
  };
  return informer.addEventHandler((event) => {
    // The first list wakes every object by itself.
    if (event.type === 'added' && event.initial) return;
    if (!predicates.every((predicate) => predicate(event))) return;
    const { object } = event;
    const controller = controllerOf(object);
    if (event.type === 'modified' && controllerOf(event.old)?.uid !== controller?.uid)
      wakeOwner(event, event.old, 'former-owner');
    if (controller) wakeOwner(event, object, 'owner');
    else if (adoptable)
      for (const adopter of findAdopters(object, lister)) wakeCached(event, adopter, 'adopter');
  });
}

interface MappedEvents extends Pick<WatchedKind, 'initially' | 'mustBeSeen' | 'predicates' | 'urgency'> {
  readonly informer: Informer;
  readonly map: (object: Readable) => Iterable<ObjectRef>;
  readonly enqueue: Enqueue;
}

/** Wakes what `map` names for the changed object, before or after the change. */
export function enqueueMapped({
  enqueue,
  informer,
  initially = false,
  map,
  mustBeSeen = true,
  predicates,
  urgency = {},
}: MappedEvents): () => void {
  return informer.addEventHandler((event) => {
    // The first list wakes every object by itself.
    if (event.type === 'added' && event.initial && !initially) return;
    if (!predicates.every((predicate) => predicate(event))) return;
    const states = event.type === 'modified' ? [event.old, event.object] : [event.object];
    const refs = new Map(states.flatMap((state) => [...map(state)].map((ref) => [keyOf(ref), ref])));
    for (const { name, namespace } of refs.values())
      enqueue({
        ref: { namespace, name },
        ...(mustBeSeen && { cause: causeOf(informer, event) }),
        change: event,
        reason: 'child-change',
        ...urgency,
      });
  });
}

/** The sync of the key waits until its cache shows this version. */
function causeOf({ type }: Pick<Informer, 'type'>, { object }: ResourceEvent<KubernetesObject>) {
  const { resourceVersion } = object.metadata;
  return resourceVersion === undefined ? undefined : { type, resourceVersion };
}

function isByUser(event: ResourceEvent<KubernetesObject>): boolean {
  if (event.type !== 'modified') return true;
  const [old, now] = [event.old.metadata, event.object.metadata];
  return (
    old.generation !== now.generation ||
    old.deletionTimestamp !== now.deletionTimestamp ||
    !sameJson(old.labels, now.labels) ||
    !sameJson(old.annotations, now.annotations)
  );
}

function refOf({ metadata }: Readable): ObjectRef {
  return { namespace: metadata.namespace, name: metadata.name };
}
