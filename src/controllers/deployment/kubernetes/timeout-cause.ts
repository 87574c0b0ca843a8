import { findCondition, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { ClassifiedPod, PodState } from '../../shared/index.js';
import { classifyPod, describeReason, failureBackOffOf, worstTrouble } from '../../shared/index.js';
import type { RolloutDraft } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { rolloutSetsOf } from './new-replica-set.js';
import { progressSubject, timedOutMessage } from './progress.js';
import { PROGRESS_DEADLINE_EXCEEDED } from './reasons.js';
import type { PodsOf } from './recreate.js';

/**
 * Appends the cause to the message of an exceeded deadline in the Progressing condition, if it is known for certain:
 *
 *     ReplicaSet "web-5d" has timed out progressing. 2 of 3 new pods: ImagePullBackOff (Back-off pulling image
 *     "web:2").
 *
 * Kubernetes' sentence stays in front, and everything but the message is unchanged: clients rely on the reason. It only
 * happens when the status is written anyway, because Kubernetes does not rewrite a condition with the same status and
 * reason: a changing cause (as in a crash loop) must not cause writes. So the message is as old as the status; an
 * outdated cause is removed with the next write.
 */
export function tellTimeoutCause(draft: RolloutDraft, podsOf: PodsOf): void {
  const { conditions } = draft.status;
  const progressing = findCondition(conditions, 'Progressing');
  if (progressing?.reason !== PROGRESS_DEADLINE_EXCEEDED || progressing.message === undefined) return;
  if (semanticEqual(draft.status, draft.observed.status)) return;
  const message = withCause(progressing.message, draft, podsOf);
  const told = conditions?.map((condition) =>
    condition === progressing ? { ...condition, message } : condition,
  );
  draft.setStatus({ ...draft.status, conditions: told });
}

/**
 * Why the new ReplicaSet's pods do not become available, if it is certain that waiting alone does not help:
 * `2 of 3 new pods: ImagePullBackOff (Back-off pulling image "web:2")`. Pods that may not be created come first.
 * @param pods those of the new ReplicaSet
 * @param noun what they are called in the sentence
 */
export function stuckCause(
  latest: ReplicaSetDraft,
  pods: readonly ClassifiedPod[],
  noun = 'new pods',
): string | undefined {
  return refusedPods(latest, noun) ?? troubledPods(pods, noun) ?? failureBackOffOf(latest.status);
}

/** Kubernetes' sentence with any subject. */
const SENTENCE = timedOutMessage('');

function withCause(message: string, draft: RolloutDraft, podsOf: PodsOf): string {
  const end = message.indexOf(SENTENCE);
  if (end < 0) return message;
  const sentence = message.slice(0, end + SENTENCE.length);
  const { latest } = rolloutSetsOf(draft);
  // Kubernetes keeps a sentence about a ReplicaSet that is no longer the new one.
  if (!latest || sentence !== timedOutMessage(progressSubject(draft, latest))) return sentence;
  const pods = podsOf(latest).map((pod) => classifyPod(pod, latest.minReadySeconds, draft.nowMs));
  const cause = stuckCause(latest, pods);
  return cause === undefined ? sentence : `${sentence} ${cause}.`;
}

function refusedPods({ observed, status }: ReplicaSetDraft, noun: string): string | undefined {
  const failure = status.conditions?.find(
    (condition) => condition.type === 'ReplicaFailure' && condition.status === 'True',
  );
  const wanted = observed?.spec.replicas ?? 1;
  const missing = wanted - (status.replicas ?? 0);
  // It may also mean that pods cannot be deleted, which blocks nothing here.
  if (!failure || missing <= 0) return undefined;
  const { message, reason = 'ReplicaFailure' } = failure;
  return countedReason(missing, wanted, noun, { message, reason });
}

function troubledPods(pods: readonly ClassifiedPod[], noun: string): string | undefined {
  const trouble = worstTrouble(pods);
  if (!trouble) return undefined;
  const counting = pods.filter(({ state }) => !ENDING.has(state));
  return countedReason(trouble.pods.length, counting.length, noun, trouble.pods[0]);
}

const ENDING: ReadonlySet<PodState> = new Set(['finished', 'overdue', 'terminating']);

function countedReason(
  some: number,
  all: number,
  noun: string,
  why: Pick<ClassifiedPod, 'message' | 'reason'>,
): string {
  return `${some} of ${all} ${noun}: ${describeReason(why)}`;
}
