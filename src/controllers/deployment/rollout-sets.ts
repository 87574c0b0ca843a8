import type { ReplicaSetDraft } from './draft.js';

/** A Deployment's ReplicaSets by their part in the rollout. */
export interface RolloutSets {
  /** The one whose template is the Deployment's. */
  readonly latest?: ReplicaSetDraft;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSetDraft[];
  readonly all: readonly ReplicaSetDraft[];
}

/** Those of a rollout whose latest ReplicaSet is there. */
export interface CompleteRolloutSets extends RolloutSets {
  readonly latest: ReplicaSetDraft;
}
