import type { CheckNeeds } from './checks/check-needs.js';

/** Why a rollout does not simply continue, according to its policies. */
export type StandingCode =
  | 'invalid-policy'
  | 'waits-for-approval'
  | 'waits-in-step'
  | 'waits-for-termination'
  | 'waits-for-zone'
  | 'waits-for-replacement'
  | 'waits-for-check'
  | 'check-failed'
  | 'resizes-pods'
  | 'rollout-held'
  | 'waits-for-budget'
  | 'waits-for-turn'
  | 'failed-template'
  | 'rolled-back';

export interface Standing {
  readonly code: StandingCode;
  readonly sentence: string;
  readonly unblockedBy: readonly string[];
  /** Time alone ends it. */
  readonly endsByItself: boolean;
}

/** What the policies have made of a pass. */
export interface PolicyOutcome {
  /** What they did, a sentence each. */
  readonly actions: string[];
  standing?: Standing;
  /** The progress deadline does not run: nothing is expected to move. */
  isWaiting: boolean;
  /** When to look again, unless something happens before. */
  recheckAfterMs?: number;
  /** What has to be read or measured for its checks. */
  checks?: CheckNeeds;
  /** The ReplicaSet whose pods have to be read from the API, because caches do not have their resources. */
  readsPodsOf?: string;
  /** A check that is measured all the way through lets no version take over. */
  isHeldByCheck?: boolean;
  /** The check that is taken for passed next, by a plan. */
  givenCheck?: string;
  /** Why a check holds the rollout, where it will not end by itself. */
  checkProblem?: CheckProblem;
}

export interface CheckProblem {
  readonly kind: 'failed' | 'unknown' | 'impossible';
  readonly message: string;
}

export function newOutcome(): PolicyOutcome {
  return { actions: [], isWaiting: false };
}

/** Timers hold no more than some weeks, and what is looked at once a day costs nothing. */
const LONGEST_MS = 86_400_000;

/** The sooner of what was planned and this. */
export function lookAgainAfter(outcome: PolicyOutcome, ms: number | undefined): void {
  if (ms === undefined) return;
  outcome.recheckAfterMs = Math.min(
    outcome.recheckAfterMs ?? Infinity,
    Math.min(Math.max(0, ms), LONGEST_MS),
  );
}
