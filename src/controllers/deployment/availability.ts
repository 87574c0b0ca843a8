import type { ReplicaSetDraft } from './draft.js';
import { isObserved } from './draft.js';
import type { RolloutRules } from './rollout-rules.js';

/** The pods that are known to be available; none while the status answers to an earlier size. */
export function available(replicaSet: ReplicaSetDraft): number {
  return isObserved(replicaSet) ? (replicaSet.status.availableReplicas ?? 0) : 0;
}

export function sumAvailable(replicaSets: readonly ReplicaSetDraft[]): number {
  return replicaSets.reduce((sum, replicaSet) => sum + available(replicaSet), 0);
}

/**
 * The available pods that stay, whatever the ReplicaSet controller has just done: while a ReplicaSet shrinks, its
 * status still tells of pods that are on their way out. Growing again in this pass does not bring them back.
 */
export function lastingAvailable(replicaSet: ReplicaSetDraft, rules: RolloutRules): number {
  if (rules.asKubernetes120) return available(replicaSet);
  return Math.min(available(replicaSet), replicaSet.replicas, replicaSet.observed?.spec.replicas ?? 1);
}
