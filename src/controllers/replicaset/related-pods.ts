import type { Lister } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isInReach, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/** Name of the index that finds pods by namespace and template hash. */
export const TEMPLATE_HASH_INDEX = 'template-hashes';

export function templateHashIndex({ metadata }: ReadablePod): readonly string[] {
  const hash = metadata.labels?.[POD_TEMPLATE_HASH];
  return hash === undefined ? [] : [`${metadata.namespace ?? ''}/${hash}`];
}

/**
 * The pods selected by all ReplicaSets with the same controller as `replicaSet`, itself included: during a rollout the
 * old and the new pods of one Deployment on a node are interchangeable. Ownership of the pods does not matter. Empty
 * for a standalone ReplicaSet, as in Kubernetes' `getIndirectlyRelatedPods`.
 */
export function relatedPods(
  replicaSet: DeepReadonly<ReplicaSet>,
  replicaSets: Lister<ReplicaSet>,
  pods: Lister<Pod>,
): readonly ReadablePod[] {
  const controller = controllerOf(replicaSet);
  if (!controller) return [];
  const siblings = replicaSets
    .byIndex(OWNER_UID_INDEX, controller.uid)
    .filter((sibling) => controllerOf(sibling)?.uid === controller.uid && isInReach(sibling, replicaSet));
  return [...new Set(siblings.flatMap((sibling) => selectedPods(sibling, pods)))];
}

function selectedPods({ metadata, spec }: DeepReadonly<ReplicaSet>, pods: Lister<Pod>): ReadablePod[] {
  const selects = tryCompileLabelSelector(spec.selector);
  if (!selects) return [];
  const { namespace = '' } = metadata;
  const hash = spec.selector.matchLabels?.[POD_TEMPLATE_HASH];
  const candidates =
    hash === undefined
      ? pods.byIndex(NAMESPACE_INDEX, namespace)
      : pods.byIndex(TEMPLATE_HASH_INDEX, `${namespace}/${hash}`);
  return candidates.filter((pod) => selects(pod.metadata.labels));
}
