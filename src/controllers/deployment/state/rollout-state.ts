import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import { POLICY_CONDITION, CHECK_FAILED } from '../policies/common/tell.js';
import { workloadOf } from '../kubernetes/workload.js';
import { degradedBecause } from '../policies/degraded/degraded-condition.js';
import { stateAfterCompletion } from './after-completion.js';
import { failureState, unseenFailure } from './failure-state.js';
import { kubectlStatus } from './kubectl-status.js';
import type { RolloutState, RolloutView } from './rollout-view.js';
import { WAITS, isWaitReason } from '../policies/common/waits.js';

/**
 * The state of a rollout, according to the API alone: Kubernetes' conditions, and those of the policies. The policies are not
 * asked for their next decision, because another controller may be at work.
 */
export function rolloutState(view: RolloutView): RolloutState {
  const { deployment } = view;
  const { metadata, spec, status } = deployment;
  const { resource } = workloadOf(deployment);
  const name = `${resource} "${metadata.name}"`;
  if (metadata.deletionTimestamp !== undefined)
    return { phase: 'deleting', message: `${name} is being deleted` };
  const { message, state } = kubectlStatus(deployment);
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return unseenFailure(deployment) ?? { phase: 'progressing', message };
  const standing = (spec.paused ? undefined : policyState(deployment)) ?? failureState(deployment);
  const isComplete = state === 'complete';
  const told = standing ?? stateAfterCompletion(view, isComplete);
  if (told) return told;
  if (isComplete) return { phase: 'complete', message };
  if (spec.paused)
    return { phase: 'paused', message: `${name} is paused: changes of its template are not rolled out` };
  const because = degradedBecause(deployment);
  return {
    phase: 'progressing',
    message: because === undefined ? message : `${name} is degraded: ${because}`,
  };
}

/** A wait that a policy asks for, or a check that failed without a rollback: without a person the rollout ends there. */
function policyState(deployment: DeepReadonly<Deployment>): RolloutState | undefined {
  const { metadata, status } = deployment;
  const policy = status?.conditions?.find(({ type }) => type === POLICY_CONDITION);
  if (policy?.reason === CHECK_FAILED) {
    const failure = policy.message ?? '';
    return {
      phase: 'failed',
      message: `${workloadOf(deployment).resource} "${metadata.name}" is held by a check. ${failure}`,
      failure,
    };
  }
  const progressing = findCondition(status?.conditions, 'Progressing');
  const { lastTransitionTime, message = '', reason } = progressing ?? {};
  if (!isWaitReason(reason)) return undefined;
  return { phase: WAITS[reason].phase, message, reason, sinceMs: parseTimeMs(lastTransitionTime) };
}

/** The cause of a failure, if the API names it. */
export function failureOf(state: RolloutState): string | undefined {
  return 'failure' in state ? state.failure : undefined;
}
