import { POLICY_REASONS, ROLLED_BACK, findCondition, isRolledOut } from '@rollkeeper/controllers/deployment';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';

export const DEPLOYMENT_STATES = [
  'complete',
  'progressing',
  'blocked',
  'degraded',
  'paused',
  'deleting',
] as const;

/**
 * The state derived from a Deployment's status alone, for counting thousands; `explain` also looks at its pods, and
 * knows more.
 */
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];

/** `blocked`: its deadline has passed. `degraded`: it was rolled out, and fewer pods are available than it asks for. */
export function decideDeploymentState({
  metadata,
  spec,
  status = {},
}: DeepReadonly<Deployment>): DeploymentState {
  const { availableReplicas = 0, observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status;
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  if (spec.paused) return 'paused';
  if (observedGeneration < (metadata.generation ?? 0)) return 'progressing';
  const reason = findCondition(status.conditions, 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return 'blocked';
  const wanted = spec.replicas ?? 1;
  const isUpToDate = updatedReplicas === wanted && replicas === wanted;
  if (isUpToDate && availableReplicas >= wanted) return 'complete';
  return isUpToDate && isRolledOut(reason) ? 'degraded' : 'progressing';
}

/** Counts all states, including those with none. */
export function countDeploymentStates(
  deployments: Iterable<DeepReadonly<Deployment>>,
): ReadonlyMap<DeploymentState, number> {
  const counts = new Map<DeploymentState, number>(DEPLOYMENT_STATES.map((state) => [state, 0]));
  for (const deployment of deployments) {
    const state = decideDeploymentState(deployment);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

/** Kubernetes' own reasons of a Progressing condition that is neither true nor false. */
const OF_KUBERNETES: ReadonlySet<string> = new Set(['DeploymentPaused', 'DeploymentResumed']);
const POLICY_CONDITION = 'RolloutPolicy';

/** What the policies say of a Deployment, as the reason of its condition; `undefined` where they say nothing. */
function policyReasonOf({ status }: DeepReadonly<Deployment>): string | undefined {
  const trouble = status?.conditions?.find(({ type }) => type === POLICY_CONDITION);
  if (trouble?.status === 'False') return trouble.reason;
  const progressing = findCondition(status?.conditions, 'Progressing');
  const { reason = '' } = progressing ?? {};
  const isWait = progressing?.status === 'Unknown' && !OF_KUBERNETES.has(reason);
  return isWait || reason === ROLLED_BACK ? reason : undefined;
}

/** Counts the Deployments whose policies hold a rollout, went back, or cannot be followed, by the reason; also reasons that none has. */
export function countPolicyReasons(
  deployments: Iterable<DeepReadonly<Deployment>>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(POLICY_REASONS.map((reason) => [reason, 0]));
  for (const deployment of deployments) {
    const reason = policyReasonOf(deployment);
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}
