import type { DeepReadonly, KubernetesObject, LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isControlledBy, newControllerRef } from '@rollkeeper/machinery/kubernetes';
import type { IndexFunction } from '@rollkeeper/runtime';

/** Name of the index that finds, by namespace, objects without a controller: candidates for adoption. */
export const ORPHAN_INDEX = 'orphans-by-namespace';

/** Indexes an object by its namespace if it has no controller; otherwise not at all. */
export const orphanIndex: IndexFunction<KubernetesObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata.namespace ?? ''];

/** An owner's decision about its potential children. */
export interface ClaimDecision<T> {
  /** Controlled by the owner, and selected: its children. */
  readonly owned: readonly T[];
  /** Selected orphans that it may adopt. */
  readonly adopt: readonly T[];
  /** Controlled by the owner, but no longer selected. */
  readonly release: readonly T[];
}

/**
 * Decides adoption and release; pure. Objects of other owners are ignored; an owner being deleted adopts and releases
 * nothing; an orphan being deleted is not adopted. (Behaviour of Kubernetes' `controller_ref_manager.go`.)
 */
export function decideClaims<T extends DeepReadonly<KubernetesObject>>(input: {
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly selects: LabelMatcher;
  readonly candidates: readonly T[];
}): ClaimDecision<T> {
  const { owner, selects, candidates } = input;
  const ownerIsLeaving = owner.metadata.deletionTimestamp !== undefined;
  const decision: Record<keyof ClaimDecision<T>, T[]> = { owned: [], adopt: [], release: [] };
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    const selected = selects(candidate.metadata.labels);
    if (controller) {
      if (!isControlledBy(candidate, owner)) continue;
      if (selected) decision.owned.push(candidate);
      else if (!ownerIsLeaving) decision.release.push(candidate);
    } else if (selected && !ownerIsLeaving && isAdoptable(candidate, owner)) {
      decision.adopt.push(candidate);
    }
  }
  return decision;
}

/**
 * Strategic merge patch that makes `owner` the controller of `child`; refused (409) if the child was replaced.
 * @param finalizer added to the child as well
 */
export function adoptionPatch(
  owner: DeepReadonly<KubernetesObject>,
  child: DeepReadonly<KubernetesObject>,
  finalizer?: string,
): unknown {
  const { uid } = child.metadata;
  const finalizers = finalizer === undefined ? {} : { finalizers: [finalizer] };
  return { metadata: { ownerReferences: [newControllerRef(owner)], uid, ...finalizers } };
}

/**
 * Strategic merge patch that removes the reference to `owner` from `child`; refused (409) if the child was replaced.
 * @param finalizer removed from the child as well
 */
export function releasePatch(
  owner: DeepReadonly<KubernetesObject>,
  child: DeepReadonly<KubernetesObject>,
  finalizer?: string,
): unknown {
  const { uid } = child.metadata;
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }];
  return { metadata: { ownerReferences, uid, ...(finalizer !== undefined && withoutFinalizer(finalizer)) } };
}

/** The part of a strategic merge patch of the metadata that removes a finalizer. */
export function withoutFinalizer(finalizer: string): Record<string, unknown> {
  return { '$deleteFromPrimitiveList/finalizers': [finalizer] };
}

function isAdoptable(
  candidate: DeepReadonly<KubernetesObject>,
  owner: DeepReadonly<KubernetesObject>,
): boolean {
  return (
    candidate.metadata.deletionTimestamp === undefined &&
    candidate.metadata.namespace === owner.metadata.namespace
  );
}
