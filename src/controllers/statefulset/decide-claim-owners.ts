import type { DeepReadonly, KubernetesObject, OwnerReference } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, newControllerRef } from '@rollkeeper/machinery/kubernetes';
import type { Kind, PersistentVolumeClaim } from '@rollkeeper/runtime';
import { Pod, StatefulSet, typeMeta } from '@rollkeeper/runtime';
import type { ReadableSet } from './identity.js';
import { isWanted, ordinalOfName } from './identity.js';

export type ReadableClaim = DeepReadonly<PersistentVolumeClaim>;
type Reference = DeepReadonly<OwnerReference>;
/** An existing pod, or, without a UID, a replica without one. */
export type PodOfClaim = DeepReadonly<Pick<KubernetesObject, 'metadata'>>;

interface ClaimOwners {
  /** The new owners of the claim; undefined if they are correct, or not ours to change. */
  readonly owners: readonly Reference[] | undefined;
  /** Another controller manages the claim, so the retention policy is not applied. */
  readonly isConflicting: boolean;
}

/**
 * The owner that a claim is deleted with, by the set's `persistentVolumeClaimRetentionPolicy`: the set, a pod beyond
 * the number of replicas, or neither. A claim of a former set or pod of the same name is left to the garbage collector;
 * from one that another controller manages only our own references are removed. Source: `isClaimOwnerUpToDate` and
 * `updateClaimOwnerRefForSetAndPod` in k/k pkg/controller/statefulset.
 */
export function decideClaimOwners(claim: ReadableClaim, set: ReadableSet, pod: PodOfClaim): ClaimOwners {
  const before = claim.metadata.ownerReferences ?? [];
  const isConflicting = hasConflictingController(before, set, pod);
  if (isStaleOf(before, StatefulSet, set) || isStaleOf(before, Pod, pod))
    return { owners: undefined, isConflicting };
  const ours = before.filter(({ uid }) => uid === set.metadata.uid || uid === pod.metadata.uid);
  const others = before.filter((each) => !refersTo(each, StatefulSet, set) && !refersTo(each, Pod, pod));
  if (isConflicting) return { owners: ours.length > 0 ? others : undefined, isConflicting };
  const wanted = wantedOwner(set, pod);
  const isRight = wanted
    ? ours.length === 1 && ours[0]?.uid === wanted.uid && ours[0].controller === true
    : ours.length === 0;
  return { owners: isRight ? undefined : [...others, ...(wanted ? [wanted] : [])], isConflicting };
}

/** Whether the claim will be deleted with a former pod of that name, so that the next one must wait for a new claim. */
export function isStaleClaim(claim: ReadableClaim, set: ReadableSet, podName: string): boolean {
  if (policyOf(set).whenScaled !== 'Delete') return false;
  return isStaleOf(claim.metadata.ownerReferences ?? [], Pod, { metadata: { name: podName } });
}

function wantedOwner(set: ReadableSet, pod: PodOfClaim): OwnerReference | undefined {
  const { whenDeleted, whenScaled } = policyOf(set);
  const isCondemned = !isWanted(set, ordinalOfName(pod.metadata.name));
  if (whenScaled === 'Delete' && isCondemned) return newControllerRef({ ...pod, ...typeMeta(Pod) });
  return whenDeleted === 'Delete' ? newControllerRef({ ...set, ...typeMeta(StatefulSet) }) : undefined;
}

/** If nothing is ever deleted, another manager of the claim does not matter. */
function hasConflictingController(owners: readonly Reference[], set: ReadableSet, pod: PodOfClaim): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenDeleted !== 'Delete' && whenScaled !== 'Delete') return false;
  return owners.some((owner) => {
    if (refersTo(owner, StatefulSet, set)) return owner.uid !== set.metadata.uid;
    if (refersTo(owner, Pod, pod)) return owner.uid !== pod.metadata.uid;
    return owner.controller === true;
  });
}

function policyOf({ spec }: ReadableSet) {
  return spec.persistentVolumeClaimRetentionPolicy ?? {};
}

/** By name, because another object of that name would be referred to as well. */
function refersTo({ apiVersion, kind, name }: Reference, to: Kind, { metadata }: PodOfClaim): boolean {
  return apiVersion === apiVersionOf(to) && kind === to.kind && name === metadata.name;
}

function isStaleOf(owners: readonly Reference[], kind: Kind, object: PodOfClaim): boolean {
  const reference = owners.find((each) => refersTo(each, kind, object));
  return reference !== undefined && reference.uid !== object.metadata.uid;
}
