import type { RolloutHealth } from '@rollkeeper/controllers/deployment';
import { ROLLOUT_HEALTH } from '@rollkeeper/controllers/deployment';

/** The rollouts that move in a cluster at one moment. */
export interface TopView {
  readonly at: string;
  /** The rollouts that are not simply complete, the worst first. */
  readonly rollouts: readonly TopRollout[];
  /** Absent where no replica was asked. */
  readonly queues?: readonly TopQueue[];
  readonly replicas?: readonly TopReplica[];
  /** How many Deployments there are. */
  readonly total: number;
}

export interface TopRollout {
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: TopState;
  readonly wanted: number;
  readonly updated: number;
  readonly available: number;
  /** Pods of every revision. */
  readonly pods: number;
  /** In one sentence. */
  readonly why: string;
}

export type TopState = Exclude<RolloutHealth, 'complete'>;
export const TOP_STATES: readonly TopState[] = ROLLOUT_HEALTH.filter((health) => health !== 'complete');

export interface TopQueue {
  readonly controller: string;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly parked: number;
}

interface TopReplica {
  readonly identity: string;
  readonly leader: boolean;
  readonly reachable: boolean;
  readonly version?: string;
  /** Keys that it processes. */
  readonly running: number;
}

/** The worst first; of equals by their names, so that a line stays where it is. */
export function inOrder(rollouts: readonly TopRollout[]): readonly TopRollout[] {
  const keyed = rollouts.map((rollout) => ({ rollout, key: `${rollout.namespace}/${rollout.name}` }));
  return keyed
    .sort(
      (a, b) =>
        TOP_STATES.indexOf(a.rollout.state) - TOP_STATES.indexOf(b.rollout.state) || (a.key < b.key ? -1 : 1),
    )
    .map(({ rollout }) => rollout);
}
