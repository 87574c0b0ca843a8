import type { ExperimentAt } from './experiment.js';
import type { WaitCode } from './waits.js';

/** Why a rollout does not simply continue, according to its policies: a wait, or a situation that other conditions show. */
export type StandingCode =
  | WaitCode
  | 'invalid-policy'
  | 'waits-for-zone'
  | 'waits-for-replacement'
  | 'waits-for-room'
  | 'check-failed'
  | 'failed-template'
  | 'rolled-back';

export interface Standing {
  readonly code: StandingCode;
  readonly sentence: string;
  readonly unblockedBy: readonly string[];
  /** Time alone ends it. */
  readonly endsByItself: boolean;
}

/** The effect of the policies on a pass. */
export interface Outcome {
  /** The actions of the policies, a sentence each. */
  readonly actions: string[];
  standing?: Standing;
  /** The progress deadline does not run: nothing is expected to move. */
  isWaiting: boolean;
  /** The experiment at whose step the rollout is. @default none */
  experiment?: ExperimentAt;
  /** When to look again, unless something happens before. */
  recheckAfterMs?: number;
}

export function newOutcome(): Outcome {
  return { actions: [], isWaiting: false };
}

/** Timers hold no more than some weeks, and what is looked at once a day costs nothing. */
const LONGEST_MS = 86_400_000;

/** The sooner of what was planned and this. */
export function lookAgainAfter(outcome: Outcome, ms: number | undefined): void {
  if (ms === undefined) return;
  outcome.recheckAfterMs = Math.min(
    outcome.recheckAfterMs ?? Infinity,
    Math.min(Math.max(0, ms), LONGEST_MS),
  );
}
