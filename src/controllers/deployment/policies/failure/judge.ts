import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ClassifiedPod } from '../../../shared/index.js';
import { classifyPod, describeReason, parseTimeMs, worstTrouble } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { maxUnavailable } from '../../kubernetes/limits.js';
import { NEW_REPLICA_SET_AVAILABLE, PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import { stuckCause } from '../../kubernetes/timeout-cause.js';
import { renderDuration } from '@rollkeeper/machinery/clock';
import type { FailureCause } from './failure-causes.js';
import { CAUSE_OF_TROUBLE } from './failure-causes.js';
import { resolvePodCount } from '../common/pod-counts.js';
import type { FailureFields } from './settings.js';
import { completeSinceMs, isGood } from '../common/revisions.js';
import { progressReason } from '../common/tell.js';

/** Whether a rollout has failed. */
export type Verdict =
  | { readonly kind: 'failed'; readonly why: string }
  /** Its deadline has passed, by something that an earlier version would be held up by as well. */
  | { readonly kind: 'withheld'; readonly why: string; readonly cause: FailureCause }
  | { readonly kind: 'well'; readonly lookAgainAfterMs?: number };

/** Restarts change nothing that a controller is woken by. */
const RESTARTS_EVERY_MS = 10_000;

/** The verdict on a rollout that is not over, or has not been over for its bake time. */
export function judgeRollout(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  policy: FailureFields,
  pods: readonly DeepReadonly<Pod>[],
): Verdict {
  const judged = pods.map((pod) => ({ pod, ...classifyPod(pod, latest.minReadySeconds, draft.nowMs) }));
  const reason = progressReason(draft);
  if (reason === PROGRESS_DEADLINE_EXCEEDED) return judgeDeadline(latest, policy, judged);
  const sinceMs = completeSinceMs(draft, latest);
  // Without a deadline nothing distinguishes a rollout from a change of size.
  if (reason === undefined && isGood(latest)) return { kind: 'well' };
  if (sinceMs === undefined && reason !== NEW_REPLICA_SET_AVAILABLE)
    return judgeNewPods(draft, policy, judged);
  if (isGood(latest) || sinceMs === undefined) return { kind: 'well' };
  return judgeBake(draft, policy, judged, sinceMs);
}

type JudgedPod = ClassifiedPod & { readonly pod: DeepReadonly<Pod> };

function judgeDeadline(latest: ReplicaSetDraft, policy: FailureFields, pods: readonly JudgedPod[]): Verdict {
  const why = `its progress deadline passed${withReason(stuckCause(latest, pods))}`;
  const cause = deadlineCause(latest, pods);
  return policy.failureCauses.has(cause) ? { kind: 'failed', why } : { kind: 'withheld', why, cause };
}

function deadlineCause({ observed, status }: ReplicaSetDraft, pods: readonly JudgedPod[]): FailureCause {
  const refusal = status.conditions?.find(
    (condition) => condition.type === 'ReplicaFailure' && condition.status === 'True',
  );
  if (refusal && (status.replicas ?? 0) < (observed?.spec.replicas ?? 1))
    return /quota/i.test(refusal.message ?? '') ? 'quota' : 'pod-create-error';
  const trouble = worstTrouble(pods);
  return trouble ? causeOf(trouble.pods[0]) : 'starting';
}

/** Pods that are not available as long after their creation as a new pod may take. */
function judgeNewPods(draft: RolloutDraft, policy: FailureFields, pods: readonly JudgedPod[]): Verdict {
  const { failAfterMs } = policy;
  if (failAfterMs === undefined) return { kind: 'well' };
  const onTheirWay = pods.filter(({ state }) => !NOT_JUDGED.has(state));
  const ageOf = ({ pod }: JudgedPod): number =>
    draft.nowMs - (parseTimeMs(pod.metadata.creationTimestamp) ?? draft.nowMs);
  const late = onTheirWay.filter((pod) => ageOf(pod) >= failAfterMs);
  const failed = late.filter((pod) => policy.failureCauses.has(causeOf(pod)));
  const [first] = failed;
  if (first && failed.length > resolvePodCount(policy.maxFailedPods, draft.replicas)) {
    const worst = worstTrouble(failed)?.pods[0] ?? first;
    const counted = `${failed.length} of ${pods.length} new pods`;
    const why = `${counted} not available ${renderDuration(failAfterMs)} after their creation: ${describeReason(worst)}`;
    return { kind: 'failed', why };
  }
  const young = onTheirWay.map((pod) => failAfterMs - ageOf(pod)).filter((ms) => ms > 0);
  return { kind: 'well', lookAgainAfterMs: young.length === 0 ? undefined : Math.min(...young) };
}

const NOT_JUDGED: ReadonlySet<string> = new Set(['available', 'ready', 'terminating', 'overdue', 'finished']);

/** A complete rollout that loses more pods than may be missing, or whose containers restart too often. */
function judgeBake(
  draft: RolloutDraft,
  policy: FailureFields,
  pods: readonly JudgedPod[],
  sinceMs: number,
): Verdict {
  const leftMs = sinceMs + policy.bakeMs - draft.nowMs;
  if (leftMs <= 0) return { kind: 'well' };
  const elapsed = renderDuration(draft.nowMs - sinceMs);
  const trouble = worstTrouble(pods);
  const lost = pods.filter((pod) => isTroubled(pod) && policy.failureCauses.has(causeOf(pod)));
  if (trouble && lost.length > maxUnavailable(draft.spec)) {
    const counted = `${lost.length} of ${pods.length} pods`;
    return {
      kind: 'failed',
      why: `${counted} failed ${elapsed} after it was complete: ${describeReason(trouble.pods[0])}`,
    };
  }
  const { maxRestarts } = policy;
  if (maxRestarts === undefined) return { kind: 'well', lookAgainAfterMs: leftMs };
  const restarts = pods.reduce((sum, { pod }) => sum + restartsOf(pod), 0);
  if (restarts > maxRestarts) {
    const why = `its containers restarted ${restarts} times within ${elapsed}, more than ${maxRestarts}`;
    return { kind: 'failed', why };
  }
  return { kind: 'well', lookAgainAfterMs: Math.min(leftMs, RESTARTS_EVERY_MS) };
}

function isTroubled({ state }: JudgedPod): boolean {
  return isTrouble(state);
}

function isTrouble(state: string): state is keyof typeof CAUSE_OF_TROUBLE {
  return state in CAUSE_OF_TROUBLE;
}

function causeOf({ isUnheardOf, state }: ClassifiedPod): FailureCause {
  if (isUnheardOf) return 'node-not-ready';
  return isTrouble(state) ? CAUSE_OF_TROUBLE[state] : 'starting';
}

function restartsOf({ status }: DeepReadonly<Pod>): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

function withReason(cause: string | undefined): string {
  return cause === undefined ? '' : `: ${cause}`;
}
