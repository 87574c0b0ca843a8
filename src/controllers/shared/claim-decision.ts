import type { DeepReadonly, KubernetesObject, LabelMatcher } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, newControllerRef } from '@rollkeeper/machinery/kubernetes';
import type { IndexFunction } from '@rollkeeper/runtime';

/** Name of the index that finds, by namespace, the objects that no controller owns: candidates of adoption. */
export const ORPHAN_INDEX = 'orphans-by-namespace';

/** Indexes an object by its namespace while it has no controller; else not at all. */
export const orphanIndex: IndexFunction<KubernetesObject> = (object) =>
  controllerOf(object) ? [] : [object.metadata.namespace ?? ''];

/** What an owner makes of the objects that could be its children. */
export interface ClaimDecision<T> {
  /** Controlled by the owner, and selected: its children. */
  readonly owned: readonly T[];
  /** Orphans that it selects and may take. */
  readonly adopt: readonly T[];
  /** Controlled by the owner, but no longer selected. */
  readonly release: readonly T[];
}

/**
 * Decides adoption and release; pure. Objects of other owners are passed over; an owner that is being deleted
 * adopts and releases nothing; an orphan that is being deleted is not adopted.
 * (Behaviour of Kubernetes' `controller_ref_manager.go`.)
 */
export function decideClaims<T extends DeepReadonly<KubernetesObject>>(input: {
  readonly owner: DeepReadonly<KubernetesObject>;
  readonly selects: LabelMatcher;
  readonly candidates: readonly T[];
}): ClaimDecision<T> {
  const { owner, selects, candidates } = input;
  const ownerIsLeaving = owner.metadata.deletionTimestamp !== undefined;
  const decision = { owned: [] as T[], adopt: [] as T[], release: [] as T[] };
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    const selected = selects(candidate.metadata.labels);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue;
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
 * @param finalizer put on the child as well
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
 * Strategic merge patch that takes the reference to `owner` off `child`; refused (409) if the child was replaced.
 * @param finalizer taken off the child as well
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

/** Of the metadata in a strategic merge patch: the part that takes a finalizer off. */
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
