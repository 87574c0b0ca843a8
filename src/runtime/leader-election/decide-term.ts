import type { FinishedAttempt } from './decide-lease-step.js';
import { leadsUntilMs } from './decide-lease-step.js';
import type { CompiledLeaderElectionOptions } from './leader-election.options.js';

/** A term that we hold, as far as our own clock can prove it. */
export interface HeldTerm {
  readonly epoch: number;
  /** The store's time of its acquisition. */
  readonly acquireTime: string;
  /** When the last successful renewal was sent, by our own monotonic clock. */
  readonly renewedAtMs: number;
}

/** The term won by an attempt of a follower; none if it had expired before the answer arrived. */
export function termWonBy(
  { acquireTime = '', epoch, result, sentAtMs }: FinishedAttempt,
  nowMs: number,
  options: CompiledLeaderElectionOptions,
): HeldTerm | undefined {
  if (epoch === undefined || result === 'held') return undefined;
  if (nowMs >= leadsUntilMs(sentAtMs, options)) return undefined;
  return { epoch, acquireTime, renewedAtMs: sentAtMs };
}

/** The term after an attempt of its leader. A late answer proves nothing: the deadline has passed in the meantime. */
export function termAfter<Term extends HeldTerm>(
  term: Term,
  last: FinishedAttempt,
  options: CompiledLeaderElectionOptions,
): Term {
  const isInTime = last.endedAtMs < leadsUntilMs(term.renewedAtMs, options);
  const isRenewed = last.result === 'renewed' && last.epoch === term.epoch && isInTime;
  return isRenewed ? { ...term, renewedAtMs: last.sentAtMs } : term;
}

/** Reasons for which no later term of ours may have the epoch, or an older one. */
export type EpochBound =
  /** Our term has begun. A lease that is still ours later continues in its epoch. */
  | { readonly by: 'own-term'; readonly epoch: number }
  /** Our term was interrupted: the next one must differ from it wherever terms are compared. */
  | { readonly by: 'interruption'; readonly epoch: number }
  /** Another holder had it. */
  | { readonly by: 'another-holder'; readonly epoch: number }
  /** The place that our work writes to refused ours, and named the one that counts there. */
  | { readonly by: 'refusal'; readonly epoch: number };

/** The epoch that our next term must exceed, although the store may know of none: it can lose its data. */
export function epochAboveAfter(before: number, { by, epoch }: EpochBound): number {
  return Math.max(before, by === 'own-term' ? epoch - 1 : epoch);
}
