import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { controllerOf, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import { findCondition } from '../kubernetes/conditions.js';
import { isRollingUpdate, minAvailable, replicasOf } from '../kubernetes/limits.js';
import { mayBecomeGood } from '../policies/failure/may-become-good.js';
import { needsGoodRevisions } from '../policies/failure/good-revisions.js';
import { compilePolicy } from '../policies/compile-policy.js';
import { completeSinceMs, isGood } from '../policies/common/revisions.js';
import { POLICY_CONDITION, isRolledOut } from '../policies/common/tell.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import { latestAmong } from './latest-replica-set.js';
import type { RolloutState, RolloutView } from './rollout-view.js';

/** Its pods all run, and a check has still to pass. */
export function unfinishedChecks(view: RolloutView): RolloutState | undefined {
  const compiled = policyOf(view);
  if (compiled.kind !== 'policy') return undefined;
  const { deployment, replicaSets } = view;
  const latest = latestAmong(deployment, replicaSets);
  if (!latest || isGood(latest) || mayBecomeGood(compiled.policy, latest)) return undefined;
  const trouble = deployment.status?.conditions?.find(({ type }) => type === POLICY_CONDITION)?.message;
  const message = `deployment "${deployment.metadata.name}" is complete, and its checks have not all passed`;
  return { phase: 'waiting-for-check', message: trouble === undefined ? message : `${message}: ${trouble}` };
}

/** Rollkeeper marks a good revision itself, by the server's time; where another controller is at work, no mark comes. */
const MARK_COMES_WITHIN_MS = 30_000;

/**
 * The state while the bake time lasts, and at its end if too few pods are available. `undefined` if there is no bake time, or it is
 * over.
 * @param isComplete whether all pods are new and available
 */
export function bakeState(view: RolloutView, isComplete: boolean): RolloutState | undefined {
  const { bakeMs, isMarked } = bakeOf(view);
  const { deployment, nowMs, wasComplete = false } = view;
  const { metadata, spec, status = {} } = deployment;
  const wanted = replicasOf(spec);
  if (bakeMs === 0 || wanted === 0) return undefined;
  const latest = latestAmong(deployment, view.replicaSets);
  const isDone = view.bakeMs === undefined && latest !== undefined && isGood(latest);
  const sinceMs = sinceOf(view, latest) ?? (isComplete ? newestReadyMs(view, latest) : undefined);
  if (isDone || sinceMs === undefined || (status.updatedReplicas ?? 0) < wanted) return undefined;
  const name = `deployment "${metadata.name}"`;
  const lookAgainAfterMs = sinceMs + bakeMs + (isMarked ? MARK_COMES_WITHIN_MS : 0) - nowMs;
  const available = `${status.availableReplicas ?? 0} of ${wanted} pods are available`;
  if (lookAgainAfterMs > 0 && (isComplete || wasComplete)) {
    const untilMs = sinceMs + bakeMs;
    const message = `${name} is complete and is watched until ${toRfc3339(untilMs)}; ${available}`;
    return { phase: 'baking', message, untilMs, lookAgainAfterMs };
  }
  const floor = isRollingUpdate(spec) ? minAvailable(spec) : wanted;
  if (isComplete || !wasComplete || (status.availableReplicas ?? 0) >= floor) return undefined;
  return { phase: 'failed', message: `${name} was complete, and at the end of its bake time ${available}` };
}

function policyOf({ deployment, namespaceAnnotations }: RolloutView): ReturnType<typeof compilePolicy> {
  return compilePolicy(deployment.metadata.annotations, namespaceAnnotations, {
    isRollingUpdate: isRollingUpdate(deployment.spec),
  });
}

/** Since when it is complete; if its ReplicaSets may not be read, by the condition alone. */
function sinceOf({ deployment }: RolloutView, latest: ReplicaSetDraft | undefined): number | undefined {
  const { status = {} } = deployment;
  if (latest) return completeSinceMs({ status }, latest);
  const progressing = findCondition(status.conditions, 'Progressing');
  return isRolledOut(progressing?.reason) ? parseTimeMs(progressing?.lastUpdateTime) : undefined;
}

function bakeOf(view: RolloutView): { readonly bakeMs: number; readonly isMarked: boolean } {
  const { bakeMs } = view;
  if (bakeMs !== undefined) return { bakeMs, isMarked: false };
  const compiled = policyOf(view);
  if (compiled.kind !== 'policy') return { bakeMs: 0, isMarked: false };
  return { bakeMs: compiled.policy.bakeMs, isMarked: needsGoodRevisions(compiled.policy) };
}

/** If no condition keeps the time: since when the last of its pods is ready. */
function newestReadyMs({ pods }: RolloutView, latest: ReplicaSetDraft | undefined): number | undefined {
  const times = pods
    .filter((pod) => latest !== undefined && controllerOf(pod)?.uid === latest.observed?.metadata.uid)
    .flatMap((pod) => parseTimeMs(readyConditionOf(pod)?.lastTransitionTime) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
