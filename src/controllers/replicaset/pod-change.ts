import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { controllerOf, ownField } from '../../base/kubernetes/index.js';
import { isPodReady, podReadySinceMs } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/**
 * Whether a sync could come to anything else because of this change. Addresses, nodes, restarts and the like
 * matter only when victims are chosen, and then the cache is read afresh.
 */
export function isRelevantPodChange(old: ReadablePod, pod: ReadablePod): boolean {
  return (
    old.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
    old.status?.phase !== pod.status?.phase ||
    isPodReady(old) !== isPodReady(pod) ||
    podReadySinceMs(old) !== podReadySinceMs(pod) ||
    controllerOf(old)?.uid !== controllerOf(pod)?.uid ||
    !haveSameEntries(old.metadata.labels, pod.metadata.labels)
  );
}

/**
 * Whether the ReplicaSet, as its status has it, is not above its wanted size, so that a lost pod must be replaced.
 * Above it the loss is what it asked for, and only the status has to follow.
 */
export function wantsReplacement(replicaSet: DeepReadonly<ReplicaSet>): boolean {
  return (replicaSet.status?.replicas ?? 0) <= (replicaSet.spec.replicas ?? 1);
}

function haveSameEntries(
  a: Readonly<Record<string, string>> = {},
  b: Readonly<Record<string, string>> = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === ownField(b, key));
}
