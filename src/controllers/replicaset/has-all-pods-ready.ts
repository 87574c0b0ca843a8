import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { isPodActive, isPodReady } from '../shared/index.js';

/** With more pods than this nobody counts them for each change; the burst simply has to pause. */
const MOST_COUNTED = 200;

/**
 * Whether the pods have come to where the ReplicaSet wants them: as many as it asks for, all of them ready. Then
 * nothing more is to be expected of a burst, and its status can be written at once.
 */
export function hasAllPodsReady(
  replicaSet: DeepReadonly<ReplicaSet>,
  owned: readonly DeepReadonly<Pod>[],
): boolean {
  if (owned.length > MOST_COUNTED) return false;
  const active = owned.filter(isPodActive);
  return active.length === (replicaSet.spec.replicas ?? 1) && active.every(isPodReady);
}
