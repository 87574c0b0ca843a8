import type { Lister } from '../../kit/index.js';
import { OWNER_UID_INDEX } from '../../kit/index.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import { controllerOf, isControlledBy } from '../../base/kubernetes/index.js';

/**
 * The pods of every ReplicaSet that has the same controller as `replicaSet`, itself included: during a rollout
 * the old and the new pods of one Deployment on a node stand in for each other. None for a ReplicaSet on its own,
 * as in Kubernetes' `getIndirectlyRelatedPods`.
 */
export function relatedPods(
  replicaSet: DeepReadonly<ReplicaSet>,
  replicaSets: Lister<ReplicaSet>,
  pods: Lister<Pod>,
): readonly DeepReadonly<Pod>[] {
  const controller = controllerOf(replicaSet);
  if (!controller) return [];
  return replicaSets
    .byIndex(OWNER_UID_INDEX, controller.uid)
    .filter((sibling) => controllerOf(sibling)?.uid === controller.uid)
    .flatMap((sibling) =>
      pods.byIndex(OWNER_UID_INDEX, sibling.metadata.uid ?? '').filter((pod) => isControlledBy(pod, sibling)),
    );
}
