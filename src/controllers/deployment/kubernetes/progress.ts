import { findCondition, transitionTime } from '@rollkeeper/machinery/kubernetes';
import type {
  DeepReadonly,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
} from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../../shared/index.js';
import type { ConditionType } from './conditions.js';
import { newCondition, withCondition, withoutCondition } from './conditions.js';
import type { RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import {
  NEW_REPLICA_SET_AVAILABLE,
  PROGRESS_DEADLINE_EXCEEDED,
  REPLICA_SET_UPDATED,
  DEPLOYMENT_PAUSED,
  DEPLOYMENT_RESUMED,
} from './reasons.js';
import { calculateStatus } from './status.js';
import { workloadOf } from './workload.js';

type Spec = DeepReadonly<DeploymentSpec>;
type Status = DeepReadonly<DeploymentStatus>;

/** The API's largest int32 means "no deadline". */
const NO_DEADLINE = 2 ** 31 - 1;

/** Ensures that the deadline has passed when we look again: times in conditions are whole seconds. */
const SECOND_OF_GRACE_MS = 1000;

export function hasProgressDeadline(spec: Spec): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_DEADLINE;
}

/** Whether all pods are new, available, and as many as requested. */
export function isRolloutComplete(draft: RolloutDraft, status: Status): boolean {
  return (
    (status.updatedReplicas ?? 0) === draft.replicas &&
    (status.replicas ?? 0) === draft.replicas &&
    (status.availableReplicas ?? 0) === draft.replicas &&
    (status.observedGeneration ?? 0) >= (draft.observed.metadata.generation ?? 0)
  );
}

/** Sets the status at the end of a rollout step, including its progress. */
export function setRolloutStatus(draft: RolloutDraft, sets: RolloutSets): void {
  const status = calculateStatus(draft, sets);
  const progressing = progressConditions(draft, sets, status);
  draft.setStatus({ ...status, conditions: withReplicaFailure(progressing, sets) });
}

/**
 * Delay until the deadline must be checked again, milliseconds; undefined if it cannot pass: no deadline, rollout
 * complete, or reported already.
 *
 * Progress last seen at 00:00, deadline 10 min, now 00:03: in 7 min, and a second of grace.
 */
export function progressCheckAfterMs(draft: RolloutDraft): number | undefined {
  const { spec, status } = draft;
  const condition = findCondition(status.conditions, 'Progressing');
  if (!hasProgressDeadline(spec) || !condition || spec.paused) return undefined;
  if (isRolloutComplete(draft, status) || condition.reason === PROGRESS_DEADLINE_EXCEEDED) return undefined;
  return Math.max(0, deadlineMs(spec, condition) - draft.nowMs) + SECOND_OF_GRACE_MS;
}

/** The subject of a progress message. */
export function progressSubject(draft: RolloutDraft, latest: ReplicaSetDraft | undefined): string {
  const { kind, versionKind } = workloadOf(draft.observed);
  return latest ? `${versionKind} "${latest.name}"` : `${kind} "${draft.name}"`;
}

export function timedOutMessage(subject: string): string {
  return `${subject} has timed out progressing.`;
}

function progressConditions(
  draft: RolloutDraft,
  sets: RolloutSets,
  status: Status,
): readonly DeepReadonly<DeploymentCondition>[] {
  const conditions = status.conditions ?? [];
  if (!hasProgressDeadline(draft.spec)) return withoutCondition(conditions, 'Progressing');
  const current = findCondition(draft.status.conditions, 'Progressing');
  const nothingRollsOut =
    status.replicas === status.updatedReplicas && current?.reason === NEW_REPLICA_SET_AVAILABLE;
  if (nothingRollsOut) return conditions;
  const subject = progressSubject(draft, sets.latest);
  if (isRolloutComplete(draft, status)) {
    const message = `${subject} has successfully progressed.`;
    return withProgress(conditions, 'True', NEW_REPLICA_SET_AVAILABLE, message, draft.now);
  }
  if (hasProgressed(draft.status, status)) return withFreshProgress(conditions, current, subject, draft.now);
  if (isTimedOut(draft, status)) {
    const message = timedOutMessage(subject);
    return withProgress(conditions, 'False', PROGRESS_DEADLINE_EXCEEDED, message, draft.now);
  }
  return conditions;
}

function withProgress(
  conditions: Status['conditions'],
  status: 'True' | 'False',
  reason: string,
  message: string,
  now: string,
): DeploymentCondition[] {
  return withCondition(conditions, newCondition('Progressing', { status, reason, message }, now));
}

/** Progress restarts the deadline: the update time is now, even if the condition is otherwise unchanged. */
function withFreshProgress(
  conditions: Status['conditions'],
  current: DeepReadonly<DeploymentCondition> | undefined,
  subject: string,
  now: string,
): DeploymentCondition[] {
  const fields = {
    status: 'True',
    reason: REPLICA_SET_UPDATED,
    message: `${subject} is progressing.`,
  } as const;
  const condition = newCondition('Progressing', fields, now);
  const lastTransitionTime = transitionTime(current, fields.status, now);
  return [...withoutCondition(conditions, 'Progressing'), { ...condition, lastTransitionTime }];
}

/** More new pods, fewer old ones, more ready or more available than in the Deployment's previous status. */
function hasProgressed(before: Status, after: Status): boolean {
  const oldReplicas = (status: Status): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldReplicas(after) < oldReplicas(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(draft: RolloutDraft, status: Status): boolean {
  const condition = findCondition(status.conditions, 'Progressing');
  if (!condition || condition.reason === NEW_REPLICA_SET_AVAILABLE) return false;
  if (condition.reason === PROGRESS_DEADLINE_EXCEEDED) return true;
  return deadlineMs(draft.spec, condition) < draft.nowMs;
}

function deadlineMs(spec: Spec, condition: DeepReadonly<DeploymentCondition>): number {
  return (parseTimeMs(condition.lastUpdateTime) ?? 0) + (spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** Copies the failure of a ReplicaSet that cannot create its pods to the Deployment; the new one's takes precedence. */
function withReplicaFailure(
  conditions: readonly DeepReadonly<DeploymentCondition>[],
  sets: RolloutSets,
): DeploymentCondition[] {
  const type: ConditionType = 'ReplicaFailure';
  for (const replicaSet of [...(sets.latest ? [sets.latest] : []), ...sets.all]) {
    const failure = replicaSet.status.conditions?.find((condition) => condition.type === type);
    if (!failure) continue;
    const { status, reason, message, lastTransitionTime } = failure;
    const copy = { type, status, reason, message, lastTransitionTime, lastUpdateTime: lastTransitionTime };
    return withCondition(conditions, copy);
  }
  return withoutCondition(conditions, type);
}

/**
 * Records pause and resume in the Progressing condition, so that the pause does not count against the deadline. An
 * already exceeded deadline stays reported.
 */
export function syncPausedCondition(draft: RolloutDraft): void {
  if (!hasProgressDeadline(draft.spec)) return;
  const { conditions } = draft.status;
  const reason = findCondition(conditions, 'Progressing')?.reason;
  const paused = draft.spec.paused === true;
  if (reason === PROGRESS_DEADLINE_EXCEEDED || paused === (reason === DEPLOYMENT_PAUSED)) return;
  const fields = paused
    ? ({ status: 'Unknown', reason: DEPLOYMENT_PAUSED, message: 'Deployment is paused' } as const)
    : ({ status: 'Unknown', reason: DEPLOYMENT_RESUMED, message: 'Deployment is resumed' } as const);
  const condition = newCondition('Progressing', fields, draft.now);
  draft.setStatus({ ...draft.status, conditions: withCondition(conditions, condition) });
}
