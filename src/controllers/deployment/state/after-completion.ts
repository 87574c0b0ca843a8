import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { controllerOf, findCondition, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import { asksForPolicies } from './asks-for-policies.js';
import type { RolloutPolicy } from '../policies/policies.js';
import { parseTimeMs } from '../../shared/index.js';
import { isRollingUpdate, minAvailable, replicasOf } from '../kubernetes/limits.js';
import { workloadOf } from '../kubernetes/workload.js';
import { mayBecomeGood } from '../policies/failure/may-become-good.js';
import { needsGoodRevisions } from '../policies/failure/good-revisions.js';
import { compilePolicy } from '../policies/compile-policy.js';
import { completeSinceMs, isGood } from '../policies/common/revisions.js';
import { POLICY_CONDITION, isRolledOut } from '../policies/common/tell.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { latestAmong } from './latest-replica-set.js';
import type { RolloutState, RolloutView } from './rollout-view.js';

/** Rollkeeper marks a good revision itself, by the server's time; where another controller is at work, no mark comes. */
const MARK_COMES_WITHIN_MS = 30_000;

/**
 * The state of a rollout whose pods all run, and that is not over: a check has still to pass, or the bake time lasts. The state of one
 * that was complete and has lost too many pods by the end of its bake time. `undefined` for all others.
 * @param isComplete whether all pods are new and available
 */
export function stateAfterCompletion(view: RolloutView, isComplete: boolean): RolloutState | undefined {
  const { deployment, replicaSets, wasComplete = false } = view;
  if (!isComplete && !wasComplete) return undefined;
  const policy = policyOf(view);
  if (!policy && !view.bakeMs) return undefined;
  const latest = latestAmong(deployment, replicaSets);
  return (
    (isComplete ? unfinishedChecks(view, policy, latest) : undefined) ??
    bakeState(view, policy, latest, isComplete)
  );
}

/** The policy of the Deployment; `undefined` if it has none, or one that is invalid. */
function policyOf({ deployment, namespaceAnnotations }: RolloutView): RolloutPolicy | undefined {
  const { annotations } = deployment.metadata;
  if (!asksForPolicies(annotations, namespaceAnnotations)) return undefined;
  const compiled = compilePolicy(annotations, namespaceAnnotations, {
    isRollingUpdate: isRollingUpdate(deployment.spec),
  });
  return compiled.kind === 'policy' ? compiled.policy : undefined;
}

function unfinishedChecks(
  { deployment }: RolloutView,
  policy: RolloutPolicy | undefined,
  latest: ReplicaSetDraft | undefined,
): RolloutState | undefined {
  if (!policy || !latest || isGood(latest) || mayBecomeGood(policy, latest)) return undefined;
  const trouble = findCondition(deployment.status?.conditions, POLICY_CONDITION)?.message;
  const message = `${workloadOf(deployment).resource} "${deployment.metadata.name}" is complete, and its checks have not all passed`;
  return { phase: 'waiting-for-check', message: trouble === undefined ? message : `${message}: ${trouble}` };
}

function bakeState(
  view: RolloutView,
  policy: RolloutPolicy | undefined,
  latest: ReplicaSetDraft | undefined,
  isComplete: boolean,
): RolloutState | undefined {
  const { deployment, nowMs } = view;
  const { metadata, spec, status = {} } = deployment;
  const bakeMs = view.bakeMs ?? policy?.bakeMs ?? 0;
  const wanted = replicasOf(spec);
  if (bakeMs === 0 || wanted === 0) return undefined;
  const isDone = view.bakeMs === undefined && latest !== undefined && isGood(latest);
  const sinceMs = sinceOf(view, latest) ?? (isComplete ? newestReadyMs(view, latest) : undefined);
  if (isDone || sinceMs === undefined || (status.updatedReplicas ?? 0) < wanted) return undefined;
  const name = `${workloadOf(deployment).resource} "${metadata.name}"`;
  const isMarked = view.bakeMs === undefined && policy !== undefined && needsGoodRevisions(policy);
  const lookAgainAfterMs = sinceMs + bakeMs + (isMarked ? MARK_COMES_WITHIN_MS : 0) - nowMs;
  const available = `${status.availableReplicas ?? 0} of ${wanted} pods are available`;
  if (lookAgainAfterMs > 0) {
    const untilMs = sinceMs + bakeMs;
    const message = `${name} is complete and is watched until ${toRfc3339(untilMs)}; ${available}`;
    return { phase: 'baking', message, untilMs, lookAgainAfterMs };
  }
  const floor = isRollingUpdate(spec) ? minAvailable(spec) : wanted;
  if (isComplete || (status.availableReplicas ?? 0) >= floor) return undefined;
  return { phase: 'failed', message: `${name} was complete, and at the end of its bake time ${available}` };
}

/** Since when it is complete; if its ReplicaSets may not be read, by the condition alone. */
function sinceOf({ deployment }: RolloutView, latest: ReplicaSetDraft | undefined): number | undefined {
  const { status = {} } = deployment;
  if (latest) return completeSinceMs({ status }, latest);
  const progressing = findCondition(status.conditions, 'Progressing');
  return isRolledOut(progressing?.reason) ? parseTimeMs(progressing?.lastUpdateTime) : undefined;
}

/** If no condition keeps the time: since when the last of its pods is ready. */
function newestReadyMs({ pods }: RolloutView, latest: ReplicaSetDraft | undefined): number | undefined {
  const times = pods
    .filter((pod) => latest !== undefined && controllerOf(pod)?.uid === latest.observed?.metadata.uid)
    .flatMap((pod) => parseTimeMs(readyConditionOf(pod)?.lastTransitionTime) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
