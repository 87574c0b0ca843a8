/** Progressing: the rollout has not begun, because of a window or a freeze. */
export const ROLLOUT_HELD = 'RolloutHeld';
/** Progressing: the rollout is between two of its steps, for as long as one of them says. */
export const WAITING_IN_STEP = 'WaitingInStep';
/** Progressing: the same, until a person approves. */
export const WAITING_FOR_APPROVAL = 'WaitingForApproval';
/** Progressing, and an Event: new pods start when old ones have ended. */
export const WAITING_FOR_TERMINATION = 'WaitingForTermination';
/** Progressing, and an Event: no old pod may go, because of a PodDisruptionBudget. */
export const WAITING_FOR_BUDGET = 'WaitingForBudget';
/** Progressing, and an Event: the rollout has not begun, because as many others roll out as may at once. */
export const WAITING_FOR_TURN = 'WaitingForTurn';
/** Progressing, and an Event: the rollout has not begun, because those before it have not ended well. */
export const WAITING_FOR_ORDER = 'WaitingForOrder';
/** Progressing, and an Event: only cpu and memory have changed, and the pods that run get them. */
export const RESIZING_PODS = 'ResizingPods';
/** Progressing: a check has not passed, or holds the rollout. */
export const WAITING_FOR_CHECK = 'WaitingForCheck';
/** Progressing: the requests of a rollout by weights are not where they must be before it goes on. */
export const WAITING_FOR_TRAFFIC = 'WaitingForTraffic';
/** Progressing, and an Event: the version has not begun, because its configuration cannot be pinned yet. */
export const WAITING_FOR_CONFIGURATION = 'WaitingForConfiguration';
/** Progressing, and an Event: a failed template is about to be retried. */
export const ROLLOUT_RETRIED = 'RolloutRetried';

/**
 * Every wait that a policy writes into the condition Progressing, by its reason: the phase of the rollout, and the code in
 * explanations. While the condition says one of these, no progress is expected.
 */
export const WAITS = {
  [ROLLOUT_HELD]: { phase: 'held', code: 'rollout-held' },
  [WAITING_IN_STEP]: { phase: 'waiting-in-step', code: 'waits-in-step' },
  [WAITING_FOR_APPROVAL]: { phase: 'waiting-for-approval', code: 'waits-for-approval' },
  [WAITING_FOR_TERMINATION]: { phase: 'waiting-in-step', code: 'waits-for-termination' },
  [WAITING_FOR_BUDGET]: { phase: 'held', code: 'waits-for-budget' },
  [WAITING_FOR_TURN]: { phase: 'held', code: 'waits-for-turn' },
  [WAITING_FOR_ORDER]: { phase: 'held', code: 'waits-for-order' },
  [WAITING_FOR_CHECK]: { phase: 'waiting-for-check', code: 'waits-for-check' },
  [WAITING_FOR_TRAFFIC]: { phase: 'waiting-in-step', code: 'waits-for-traffic' },
  [WAITING_FOR_CONFIGURATION]: { phase: 'held', code: 'waits-for-configuration' },
  [RESIZING_PODS]: { phase: 'progressing', code: 'resizes-pods' },
  [ROLLOUT_RETRIED]: { phase: 'progressing' },
} as const;

export type WaitReason = keyof typeof WAITS;

/** The phases in which a policy keeps a rollout from going on. */
export type WaitPhase = (typeof WAITS)[WaitReason]['phase'];

/** The code of a wait that Progressing names; a retry has none. */
export type WaitCode = Extract<(typeof WAITS)[WaitReason], { readonly code: string }>['code'];

/** The code of a wait in explanations; undefined if the reason is of no wait, or of one without a code. */
export function waitCodeOf(reason: string | undefined): WaitCode | undefined {
  if (!isWaitReason(reason)) return undefined;
  const wait = WAITS[reason];
  return 'code' in wait ? wait.code : undefined;
}

export function isWaitReason(reason: string | undefined): reason is WaitReason {
  return reason !== undefined && Object.hasOwn(WAITS, reason);
}
