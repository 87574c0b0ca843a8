import type { DeepReadonly, ReplicaSet } from '../../base/kubernetes/index.js';

/** Every sync notes the generation that it saw; and one that could not make all pods comes back by itself. */
export function isReplicaSetDue({ metadata, spec, status }: DeepReadonly<ReplicaSet>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const isBehind = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  return isBehind || (status?.replicas ?? 0) !== (spec?.replicas ?? 1);
}
