import type { ReplicaSetDraft } from './draft.js';

/** A Deployment's ReplicaSets by their part in the rollout. */
export interface RolloutSides {
  /** The one whose template is the Deployment's. */
  readonly newOne?: ReplicaSetDraft;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSetDraft[];
  readonly all: readonly ReplicaSetDraft[];
}

/** Both sides of a rollout whose new ReplicaSet is there. */
export interface CompleteSides extends RolloutSides {
  readonly newOne: ReplicaSetDraft;
}
