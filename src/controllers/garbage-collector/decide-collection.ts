import type { DeepReadonly, KubernetesObject, OwnerReference } from '@rollkeeper/machinery/kubernetes';
import {
  FOREGROUND_FINALIZER,
  ORPHAN_FINALIZER,
  hasFinalizer,
  isBeingDeleted,
  isDeletingDependents,
  isOrphaningDependents,
} from './item-key.js';

type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/**
 * `solid`: exists and keeps its dependents. `dangling`: does not exist. `waiting`: is being deleted in the foreground,
 * waiting for its dependents.
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting';

export interface ClassifiedOwner {
  readonly reference: DeepReadonly<OwnerReference>;
  readonly state: OwnerState;
}

type Item = DeepReadonly<KubernetesObject>;

/** The remaining duty of an object being deleted towards its dependents. */
export type OwnerDuty =
  | { readonly action: 'none' }
  | { readonly action: 'orphan-dependents'; readonly dependents: readonly Item[] }
  | { readonly action: 'wait-for-dependents'; readonly blocking: readonly Item[] }
  /** A type that is being listed may contain dependents. */
  | { readonly action: 'wait-for-caches' }
  | { readonly action: 'remove-finalizer'; readonly finalizer: string };

/** The action on an object because of its owners. */
export type CollectionPlan =
  | { readonly action: 'keep' }
  | { readonly action: 'drop-references'; readonly uids: readonly string[] }
  | {
      readonly action: 'delete';
      readonly policy: PropagationPolicy;
      /**
       * First release the owners that wait for it, because it cannot be deleted before an object that waits for the
       * owner.
       */
      readonly unblockOwners: boolean;
    };

/** The known dependents of an owner. */
interface KnownDependents {
  readonly dependents: readonly Item[];
  /** Whether the first list of some type is in progress. */
  readonly isFilling: boolean;
}

/**
 * The duty of `object` as an owner. Orphaning comes first: it determines what is left to wait for. The absence of known
 * dependents means nothing during the first list of a type: deleting the owner then would delete dependents that should be
 * orphaned. Source: `processDeletingDependentsItem` and `attemptToOrphanWorker` in k/k pkg/controller/garbagecollector.
 */
export function decideOwnerDuty(object: Item, { dependents, isFilling }: KnownDependents): OwnerDuty {
  if (isOrphaningDependents(object)) {
    if (isFilling) return { action: 'wait-for-caches' };
    return dependents.length > 0
      ? { action: 'orphan-dependents', dependents }
      : { action: 'remove-finalizer', finalizer: ORPHAN_FINALIZER };
  }
  if (isDeletingDependents(object)) {
    const blocking = dependents.filter((dependent) => blocksOwner(dependent, object.metadata.uid));
    if (blocking.length > 0) return { action: 'wait-for-dependents', blocking };
    return isFilling
      ? { action: 'wait-for-caches' }
      : { action: 'remove-finalizer', finalizer: FOREGROUND_FINALIZER };
  }
  return { action: 'none' };
}

/**
 * The dependents in all namespaces that have to be known for a decision about an object without a namespace, where the cache has those of
 * some namespaces alone.
 * @param owners absent where it is being deleted
 */
export function decideNeed(
  object: Item,
  owners: readonly ClassifiedOwner[] | undefined,
  cached: readonly Item[],
): 'none' | 'blocking' | 'all' {
  if (isOrphaningDependents(object)) return 'all';
  if (isDeletingDependents(object))
    return cached.some((dependent) => blocksOwner(dependent, object.metadata.uid)) ? 'none' : 'blocking';
  const states = (owners ?? []).map(({ state }) => state);
  // Without dependents it would be deleted in the background.
  return states.includes('waiting') && !states.includes('solid') ? 'all' : 'none';
}

/**
 * One existing owner keeps an object. Without one it is deleted: in the foreground if an owner waits for it and it has
 * dependents of its own, otherwise as its finalizers ask, otherwise in the background. Source: `attemptToDeleteItem` in
 * k/k pkg/controller/garbagecollector/garbagecollector.go.
 */
export function decideCollection(
  object: Item,
  owners: readonly ClassifiedOwner[],
  dependents: readonly Item[],
): CollectionPlan {
  if (isBeingDeleted(object) || owners.length === 0) return { action: 'keep' };
  if (owners.some(({ state }) => state === 'solid')) {
    const uids = owners.filter(({ state }) => state !== 'solid').map(({ reference }) => reference.uid);
    return uids.length === 0 ? { action: 'keep' } : { action: 'drop-references', uids };
  }
  if (owners.some(({ state }) => state === 'waiting') && dependents.length > 0) {
    const unblockOwners =
      dependents.some(isDeletingDependents) &&
      (object.metadata.ownerReferences ?? []).some(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
    return { action: 'delete', policy: 'Foreground', unblockOwners };
  }
  return { action: 'delete', policy: policyOfFinalizers(object), unblockOwners: false };
}

/** Whether `object` has to be deleted before the owner with `uid`. */
export function blocksOwner(object: Item, uid: string | undefined): boolean {
  return (object.metadata.ownerReferences ?? []).some(
    (reference) => reference.uid === uid && reference.blockOwnerDeletion === true,
  );
}

/** The server prefers the policy to the finalizer, so an existing finalizer must be requested again. */
function policyOfFinalizers(object: Item): PropagationPolicy {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'Orphan';
  if (hasFinalizer(object, FOREGROUND_FINALIZER)) return 'Foreground';
  return 'Background';
}
