import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { replicasOf } from '../kubernetes/limits.js';
import { NEW_REPLICA_SET_AVAILABLE } from '../kubernetes/reasons.js';

/** Whether its rollout is over. Pods that are lost later, or that come by a change of size, begin none. */
export function hasEnded(deployment: DeepReadonly<Deployment>): boolean {
  const { metadata, spec, status = {} } = deployment;
  const { availableReplicas = 0, observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status;
  if (metadata.deletionTimestamp !== undefined || observedGeneration < (metadata.generation ?? 0))
    return false;
  if (updatedReplicas < replicasOf(spec) || replicas > updatedReplicas) return false;
  const reason = reasonOf(deployment);
  // Without a deadline no condition says it.
  return reason === undefined ? availableReplicas >= updatedReplicas : reason === NEW_REPLICA_SET_AVAILABLE;
}

/** The reason of its condition Progressing. */
export function reasonOf({ status }: DeepReadonly<Deployment>): string | undefined {
  return findCondition(status?.conditions, 'Progressing')?.reason;
}
