import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { Outcome, Standing } from './outcome.js';
import { asClause, normal, observedProgress, tellEvent, tellProgress } from './tell.js';
import type { ROLLOUT_RETRIED, WaitReason } from './waits.js';
import { WAITS } from './waits.js';

/** A wait of a policy, for people. */
export interface ToldWait extends Pick<Standing, 'unblockedBy' | 'endsByItself'> {
  /** The reason of the Event and of the condition Progressing. */
  readonly reason: Exclude<WaitReason, typeof ROLLOUT_RETRIED>;
  readonly message: string;
}

/** Says that the rollout waits: Progressing is Unknown, and an Event reports a message that is new. */
export function tellWait(draft: RolloutDraft, outcome: Outcome, wait: ToldWait): void {
  const { endsByItself, message, reason, unblockedBy } = wait;
  if (observedProgress(draft)?.message !== message) tellEvent(draft, outcome, normal(reason, message));
  tellProgress(draft, { status: 'Unknown', reason, message });
  outcome.isWaiting = true;
  outcome.standing = { code: WAITS[reason].code, sentence: asClause(message), unblockedBy, endsByItself };
}
