import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { EventNote } from '@rollkeeper/runtime';
import type { DeepReadonly, DeploymentCondition } from '@rollkeeper/machinery/kubernetes';
import { newCondition } from '../../kubernetes/conditions.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { workloadOf } from '../../kubernetes/workload.js';
import {
  NEW_REPLICA_SET_AVAILABLE,
  PROGRESS_DEADLINE_EXCEEDED,
  REPLICA_SET_UPDATED,
} from '../../kubernetes/reasons.js';
import type { Outcome } from './outcome.js';
import { WAITS, isWaitReason } from './waits.js';

export {
  RESIZING_PODS,
  ROLLOUT_HELD,
  ROLLOUT_RETRIED,
  WAITING_FOR_APPROVAL,
  WAITING_FOR_BUDGET,
  WAITING_FOR_CHECK,
  WAITING_FOR_CONFIGURATION,
  WAITING_FOR_ORDER,
  WAITING_FOR_TERMINATION,
  WAITING_FOR_TRAFFIC,
  WAITING_FOR_TURN,
  WAITING_IN_STEP,
} from './waits.js';

/**
 * A reason of the condition {@link POLICY_CONDITION}, and an Event: a check failed, and the rollout does not go back.
 */
export const CHECK_FAILED = 'CheckFailed';
/** A reason of the same condition, and an Event: a check was measured without a verdict. */
export const CHECK_UNKNOWN = 'CheckUnknown';
/** A reason of the same condition, and an Event: a check cannot be measured before something is changed. */
export const CHECK_NOT_POSSIBLE = 'CheckNotPossible';
/** Progressing, and an Event: an earlier revision runs again in place of one that failed. */
export const ROLLED_BACK = 'RolledBack';
/** A reason of the condition {@link POLICY_CONDITION}, and an Event: annotations that cannot be understood. */
export const INVALID_ANNOTATION = 'InvalidAnnotation';
/**
 * A reason of the same condition, and an Event: the Deployment is not restarted on its configuration, although it asks
 * for it.
 */
export const CONFIGURATION_NOT_WATCHED = 'ConfigurationNotWatched';
/** A reason of the same condition, and an Event: versions do not read copies of their configuration, although it is asked for. */
export const CONFIGURATION_NOT_PINNED = 'ConfigurationNotPinned';
/** A reason of the same condition, and an Event: the Deployment does not respect budgets, although it is asked to. */
export const BUDGETS_NOT_WATCHED = 'BudgetsNotWatched';
/** A reason of the same condition, and an Event: the Namespace limits its rollouts, and nothing keeps the limit. */
export const ROLLOUTS_NOT_LIMITED = 'RolloutsNotLimited';
/**
 * A reason of the same condition, and an Event: a Service that a blue-green rollout needs is missing, or cannot be
 * moved; or a Service of an experiment cannot be made.
 */
export const SERVICE_NOT_USABLE = 'ServiceNotUsable';
/** A reason of the same condition, and an Event: the controller does not see Services. */
export const SERVICES_NOT_WATCHED = 'ServicesNotWatched';
/** A reason of the same condition, and an Event: a route that a rollout by weights needs is missing, or has no such rule. */
export const ROUTE_NOT_USABLE = 'RouteNotUsable';
/** A reason of the same condition, and an Event: the controller does not see routes, or Services. */
export const ROUTES_NOT_WATCHED = 'RoutesNotWatched';
/** A reason of the same condition, and an Event: zones are asked for, and the controller does not see nodes. */
export const NODES_NOT_WATCHED = 'NodesNotWatched';
/** A reason of the same condition, and an Event: sessions of old versions are to drain, and no controller is there for that. */
export const SESSIONS_NOT_DRAINED = 'SessionsNotDrained';
/** A reason of the same condition, and an Event: another tool writes the field by which a set's rollout is held. */
export const STRATEGY_NOT_OURS = 'StrategyNotOurs';
/** A reason of the same condition, and an Event: a restart on admission is asked for, and nothing looks at it. */
export const ADMISSION_NOT_WATCHED = 'AdmissionNotWatched';
/** A reason of the same condition, and an Event: Deployments wait for each other. */
export const ORDER_IN_CIRCLE = 'OrderInCircle';
/** A reason of the same condition, and an Event: a label of the version would change what the selector looks at. */
export const LABEL_OF_SELECTOR = 'LabelOfSelector';
export const POLICY_CONDITION = 'RolloutPolicy';
/** The remedy for {@link INVALID_ANNOTATION}. */
export const CORRECT_ANNOTATION = 'correct or remove the annotation (docs/ROLLOUTS.md)';

/** The reasons of conditions that policies write, for counting. */
export const POLICY_REASONS: readonly string[] = [...Object.keys(WAITS), ROLLED_BACK, INVALID_ANNOTATION];

interface Fields {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function observedProgress(draft: RolloutDraft): DeepReadonly<DeploymentCondition> | undefined {
  return findCondition(draft.observed.status?.conditions, 'Progressing');
}

/** Whether a reason of Progressing says that a rollout is over, and what it led to runs. */
export function isRolledOut(reason: string | undefined): boolean {
  return reason === NEW_REPLICA_SET_AVAILABLE || reason === ROLLED_BACK;
}

export function progressReason(draft: RolloutDraft): string | undefined {
  return findCondition(draft.status.conditions, 'Progressing')?.reason;
}

/**
 * Puts what a policy said of the progress into Kubernetes' words, before its steps are played: a rollout that was rolled back is
 * complete, and one that waited has just been resumed, so that the time of the wait does not count against its deadline.
 */
export function inKubernetesWords(draft: RolloutDraft): void {
  const progressing = observedProgress(draft);
  if (!progressing) return;
  if (progressing.reason === ROLLED_BACK) {
    replace(draft, { ...progressing, status: 'True', reason: NEW_REPLICA_SET_AVAILABLE });
  } else if (isWaitReason(progressing.reason)) {
    restartDeadline(draft, `${workloadOf(draft.observed).kind} "${draft.name}" is progressing.`);
  }
}

/** Restarts the deadline: another ReplicaSet exceeded it, or a retry was requested. */
export function restartDeadline(draft: RolloutDraft, message: string): void {
  const fields = { status: 'True', reason: REPLICA_SET_UPDATED, message } as const;
  replace(draft, newCondition('Progressing', fields, draft.now));
}

/** Writes what the policies say of the progress in place of Kubernetes. What was said already stays, times included. */
export function tellProgress(draft: RolloutDraft, fields: Fields): void {
  const observed = observedProgress(draft);
  const isSame =
    observed?.status === fields.status &&
    observed.reason === fields.reason &&
    observed.message === fields.message;
  const fresh = newCondition('Progressing', fields, draft.now);
  const since = observed?.status === fields.status ? observed.lastTransitionTime : draft.now;
  replace(draft, isSame ? observed : { ...fresh, lastTransitionTime: since });
}

/** Whether the failure of what the Deployment asks for has been written into its status. */
export function isFailureTold(draft: RolloutDraft): boolean {
  const { metadata, status } = draft.observed;
  const isCurrent = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return isCurrent && observedProgress(draft)?.reason === PROGRESS_DEADLINE_EXCEEDED;
}

/** A problem that keeps the policies, or one of them, from being followed. */
export interface Problem {
  readonly reason:
    | typeof INVALID_ANNOTATION
    | typeof CONFIGURATION_NOT_WATCHED
    | typeof CONFIGURATION_NOT_PINNED
    | typeof BUDGETS_NOT_WATCHED
    | typeof ROLLOUTS_NOT_LIMITED
    | typeof SERVICE_NOT_USABLE
    | typeof SERVICES_NOT_WATCHED
    | typeof ROUTE_NOT_USABLE
    | typeof ROUTES_NOT_WATCHED
    | typeof NODES_NOT_WATCHED
    | typeof SESSIONS_NOT_DRAINED
    | typeof ADMISSION_NOT_WATCHED
    | typeof LABEL_OF_SELECTOR
    | typeof ORDER_IN_CIRCLE
    | typeof STRATEGY_NOT_OURS
    | typeof CHECK_FAILED
    | typeof CHECK_UNKNOWN
    | typeof CHECK_NOT_POSSIBLE;
  readonly message: string;
}

/** Says what keeps a policy from being followed, or takes that back. */
export function tellProblem(draft: RolloutDraft, problem: Problem | undefined, outcome: Outcome): void {
  const conditions = draft.status.conditions ?? [];
  const before = conditions.find(({ type }) => type === POLICY_CONDITION);
  if (problem === undefined) {
    if (before)
      setConditions(
        draft,
        conditions.filter((condition) => condition !== before),
      );
    return;
  }
  const { message, reason } = problem;
  if (reason === INVALID_ANNOTATION)
    outcome.standing = {
      code: 'invalid-policy',
      sentence: `new versions are held, because an annotation cannot be understood: ${message}`,
      unblockedBy: [CORRECT_ANNOTATION],
      endsByItself: false,
    };
  if (reason === SERVICE_NOT_USABLE || reason === SERVICES_NOT_WATCHED)
    outcome.standing ??= {
      code: 'invalid-policy',
      sentence: `its rollouts cannot use a Service: ${message}`,
      unblockedBy: ['a Service that can be used (docs/ROLLOUTS.md)'],
      endsByItself: false,
    };
  if (reason === ROUTE_NOT_USABLE || reason === ROUTES_NOT_WATCHED)
    outcome.standing ??= {
      code: 'invalid-policy',
      sentence: `its rollouts cannot steer requests: ${message}`,
      unblockedBy: ['a route that can be steered (docs/ROLLOUTS.md)'],
      endsByItself: false,
    };
  if (before?.message === message && before.reason === reason) return;
  const condition = {
    ...newCondition('Progressing', { status: 'False', reason, message }, draft.now),
    type: POLICY_CONDITION,
  };
  setConditions(draft, [...conditions.filter((each) => each !== before), condition]);
  // The Event of a measurement is recorded with it.
  if (reason !== CHECK_FAILED && reason !== CHECK_UNKNOWN)
    tellEvent(draft, outcome, warning(reason, message));
}

/** An Event, and a line of the decision. */
export function tellEvent(draft: RolloutDraft, outcome: Outcome, note: EventNote): void {
  draft.note(note);
  outcome.actions.push(note.message);
}

/** A message as a part of a sentence. */
export function asClause(message: string): string {
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

export function warning(reason: string, message: string): EventNote {
  return { type: 'Warning', reason, message };
}

export function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}

/** In its place; where it was not there, or has been moved, where it was before the pass. */
function replace(draft: RolloutDraft, progressing: DeepReadonly<DeploymentCondition>): void {
  const others = (draft.status.conditions ?? []).filter(({ type }) => type !== 'Progressing');
  const order = new Map((draft.observed.status?.conditions ?? []).map(({ type }, index) => [type, index]));
  const place = (condition: DeepReadonly<DeploymentCondition>): number =>
    order.get(condition.type) ?? Infinity;
  const all = [...others, progressing];
  setConditions(
    draft,
    all.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b))),
  );
}

function setConditions(draft: RolloutDraft, conditions: readonly DeepReadonly<DeploymentCondition>[]): void {
  draft.setStatus({ ...draft.status, conditions });
}
