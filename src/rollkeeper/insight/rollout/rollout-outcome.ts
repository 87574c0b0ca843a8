import type { RolloutPhase } from '@rollkeeper/controllers/deployment';
import type { ROLLOUT_EXIT_CODES } from '../../terminal/exit-codes.js';

/** The result of a look at a rollout, or of a wait for it. */
export type RolloutOutcome = keyof typeof ROLLOUT_EXIT_CODES;

/** The outcome of a single look. */
export const OUTCOME_OF_PHASE: Readonly<Record<RolloutPhase, RolloutOutcome>> = {
  complete: 'complete',
  failed: 'failed',
  'rolled-back': 'rolled-back',
  'rolling-back': 'rolled-back',
  'waiting-for-approval': 'waiting-for-approval',
  held: 'held',
  progressing: 'progressing',
  'waiting-in-step': 'progressing',
  'waiting-for-check': 'progressing',
  paused: 'progressing',
  baking: 'progressing',
  deleting: 'gone',
};

/** The phases that end a wait, beside those that are over. */
export interface WaitUntil {
  readonly approval?: boolean;
  readonly held?: boolean;
}

/** Undefined: the wait continues. */
export function outcomeOfWait(phase: RolloutPhase, until: WaitUntil): RolloutOutcome | undefined {
  const outcome = OUTCOME_OF_PHASE[phase];
  if (outcome === 'progressing' || phase === 'rolling-back') return undefined;
  if (outcome === 'waiting-for-approval') return until.approval ? outcome : undefined;
  if (outcome === 'held') return until.held ? outcome : undefined;
  return outcome;
}

/** A version that failed has failed, also where what ran before is not back in time. */
export function outcomeOfTimeout(phase: RolloutPhase): RolloutOutcome {
  return phase === 'rolling-back' ? 'rolled-back' : 'timed-out';
}
