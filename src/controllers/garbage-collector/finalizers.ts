import type { DeepReadonly, KubernetesObject } from '../../base/kubernetes/index.js';

/** Set by the server for propagationPolicy=Orphan; source: `metav1.FinalizerOrphanDependents`. */
export const ORPHAN_FINALIZER = 'orphan';
/** Set by the server for propagationPolicy=Foreground; source: `metav1.FinalizerDeleteDependents`. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

type Readable = DeepReadonly<KubernetesObject>;

export function isBeingDeleted(object: Readable): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer(object: Readable, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** The object waits until its blocking dependents are gone. */
export function isDeletingDependents(object: Readable): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, FOREGROUND_FINALIZER);
}

/** The object waits until its dependents have forgotten it. */
export function isOrphaningDependents(object: Readable): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, ORPHAN_FINALIZER);
}
