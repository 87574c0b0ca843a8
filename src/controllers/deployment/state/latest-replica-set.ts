import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { latestOf } from '../kubernetes/new-replica-set.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { byCreation, draftOf } from '../kubernetes/replica-set-draft.js';

/** The ReplicaSet with the template that the Deployment asks for; the oldest of several. */
export function latestReplicaSet(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
): DeepReadonly<ReplicaSet> | undefined {
  return latestAmong(deployment, replicaSets)?.observed;
}

/** The same, as the policies read it. */
export function latestAmong(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
): ReplicaSetDraft | undefined {
  const { spec, status = {} } = deployment;
  const sets = replicaSets.map((set) => draftOf(set, set.metadata.ownerReferences ?? [])).sort(byCreation);
  return latestOf({ observed: deployment, spec, status }, sets);
}
