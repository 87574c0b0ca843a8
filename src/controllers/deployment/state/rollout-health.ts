import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { replicasOf } from '../kubernetes/limits.js';
import { POLICY_CONDITION, ROLLED_BACK, isRolledOut } from '../policies/common/tell.js';
import { failureState } from './failure-state.js';
import type { RolloutState } from './rollout-view.js';
import { rolloutState } from './rollout-state.js';
import { isWaitReason } from '../policies/common/waits.js';

/** From what matters most to what matters least. */
export const ROLLOUT_HEALTH = [
  'blocked',
  'degraded',
  'progressing',
  'paused',
  'deleting',
  'complete',
] as const;

/**
 * A rollout's state in one of six words, for counting thousands and for a list.
 *
 * - `blocked`: it will not move until something outside changes
 * - `degraded`: it is complete, and fewer pods than requested are available
 * - `progressing`: it moves, or it will once its wait is over
 * - `paused`, `deleting`: as requested
 * - `complete`: everything requested runs and is available
 */
export type RolloutHealth = (typeof ROLLOUT_HEALTH)[number];

export function rolloutHealth(state: RolloutState, deployment: DeepReadonly<Deployment>): RolloutHealth {
  if (state.phase === 'deleting') return 'deleting';
  if (state.phase === 'failed') return 'blocked';
  if (deployment.spec.paused) return 'paused';
  switch (state.phase) {
    case 'complete':
    case 'baking':
    case 'rolled-back':
      return lacksPods(deployment) ? 'degraded' : 'complete';
    case 'progressing':
      return wasRolledOut(deployment) && lacksPods(deployment) ? 'degraded' : 'progressing';
    default:
      return 'progressing';
  }
}

/** The state that the status alone shows, for counting many. */
export function stateOfStatus(deployment: DeepReadonly<Deployment>, nowMs: number): RolloutState {
  return rolloutState({ deployment, replicaSets: [], pods: [], bakeMs: 0, nowMs });
}

/** The reason for which a Deployment's policies hold its rollout, went back, or cannot be followed. */
export function policyReasonOf(deployment: DeepReadonly<Deployment>): string | undefined {
  const { conditions } = deployment.status ?? {};
  const trouble = conditions?.find(({ type }) => type === POLICY_CONDITION);
  if (trouble?.status === 'False') return trouble.reason;
  const { reason } = findCondition(conditions, 'Progressing') ?? {};
  if (isWaitReason(reason)) return reason;
  return failureState(deployment)?.phase === 'rolled-back' ? ROLLED_BACK : undefined;
}

function lacksPods({ spec, status }: DeepReadonly<Deployment>): boolean {
  return (status?.availableReplicas ?? 0) < replicasOf(spec);
}

/** Whether it was complete, and nothing else has been requested since. */
function wasRolledOut({ metadata, spec, status = {} }: DeepReadonly<Deployment>): boolean {
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status;
  const wanted = replicasOf(spec);
  const isCurrent = observedGeneration >= (metadata.generation ?? 0);
  const isWhole = updatedReplicas === wanted && replicas === wanted;
  return isCurrent && isWhole && isRolledOut(findCondition(status.conditions, 'Progressing')?.reason);
}
