import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Enqueue } from '../controller/index.js';
import type { Informer, Lister, ResourceEvent } from '@rollkeeper/client/informer';
import type { CachedKind } from './kinds.js';
import type { Predicate } from './predicates.js';

type Readable = DeepReadonly<KubernetesObject>;

/** Returns the caches that a controller has named; see `ControllerSpec.reads`. @throws IllegalStateError for others */
export type ListerOf = <T extends KubernetesObject>(kind: CachedKind<T>) => Lister<T>;

/** A kind whose changes wake the keys that `map` names. */
export interface WatchedKind {
  readonly kind: CachedKind;
  readonly predicates: readonly Predicate[];
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
 * Wakes the object itself. Additions, deletions and user changes have high priority; status and other changes have
 * normal priority.
 */
export function enqueueItself(informer: Informer, predicates: readonly Predicate[], enqueue: Enqueue) {
  return informer.addEventHandler((event) => {
    if (!predicates.every((predicate) => predicate(event))) return;
    const isInitial = event.type === 'added' && event.initial;
    const byUser = isByUser(event);
    enqueue({
      ref: refOf(event.object),
      cause: causeOf(informer, event),
      change: event,
      priority: isInitial ? 'low' : byUser ? 'high' : 'normal',
      reason: isInitial ? 'initial-list' : byUser ? 'user-change' : 'child-change',
    });
  });
}

/** Wakes the objects of `owner` that control the changed ones, before or after the change. */
export function enqueueOwner(
  owner: Informer,
  informer: Informer,
  predicates: readonly Predicate[],
  enqueue: Enqueue,
) {
  const ownerOf = (object: Readable): ObjectRef | undefined => {
    const { apiVersion = '', kind, name, uid } = controllerOf(object) ?? {};
    const { type } = owner;
    if (name === undefined || kind !== type.kind || groupOf(apiVersion) !== type.group) return undefined;
    const ref = type.namespaced ? { namespace: object.metadata.namespace, name } : { name };
    const cached = owner.lister.get(keyOf(ref));
    // Another object of that name: the owner is gone, and the object will be deleted as well.
    return cached && cached.metadata.uid !== uid ? undefined : ref;
  };
  const owners = (object: Readable): ObjectRef[] => [ownerOf(object)].filter((ref) => ref !== undefined);
  return enqueueMapped({ informer, map: owners, predicates, enqueue });
}

interface MappedEvents {
  readonly informer: Informer;
  readonly map: (object: Readable) => Iterable<ObjectRef>;
  readonly predicates: readonly Predicate[];
  readonly initially?: boolean | undefined;
  readonly enqueue: Enqueue;
}

/** Wakes what `map` names for the changed object, before or after the change. */
export function enqueueMapped({
  enqueue,
  informer,
  initially = false,
  map,
  predicates,
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
        cause: causeOf(informer, event),
        change: event,
        reason: 'child-change',
      });
  });
}

/** The key's worker waits until its cache shows this. */
function causeOf({ type }: Informer, { object }: ResourceEvent<KubernetesObject>) {
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

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
