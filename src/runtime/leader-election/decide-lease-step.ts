import type { CompiledLeaderElectionOptions } from './leader-election.options.js';

/** A finished attempt. Times are of our own monotonic clock. */
export interface FinishedAttempt {
  /** Before the request was sent: nothing that the store has granted began earlier. */
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  /** `failed`: no answer, or an error; the store may have executed it all the same. */
  readonly result: 'acquired' | 'renewed' | 'held' | 'failed';
  /** With `held`: how long the holder may still have it. */
  readonly remainingMs?: number;
  /** If there was an answer. */
  readonly epoch?: number;
  /** If there was an answer: the store's time of the acquisition, which renewals keep. */
  readonly acquireTime?: string;
  /** A follower's delay after it. Drawn once per attempt. */
  readonly retryMs: number;
}

/** Our state: `term` is the one that we believe to hold. */
export interface LeaseView {
  readonly nowMs: number;
  readonly term?: { readonly epoch: number; readonly acquireTime: string; readonly renewedAtMs: number };
  /** Absent at the start, and after a notification that the lease is free or its holder is dead. */
  readonly last?: FinishedAttempt;
  /** The leader has an update that cannot wait for its next renewal. */
  readonly isUrgent?: boolean;
}

export type StepDownReason =
  /** Another holder has it. */
  | 'taken'
  /** It is ours again, but was not in between: it had ended, or its store has lost it. */
  | 'interrupted'
  /** No renewal succeeded in time. */
  | 'deadline';

export type LeaseStep =
  /** An attempt without an answer after `timeoutMs` is useless. */
  | { readonly step: 'attempt'; readonly timeoutMs: number }
  | { readonly step: 'wait'; readonly waitMs: number }
  | { readonly step: 'stepDown'; readonly reason: StepDownReason };

/** The elector's next step. */
export function decideLeaseStep(view: LeaseView, options: CompiledLeaderElectionOptions): LeaseStep {
  return view.term ? decideAsLeader(view, view.term, options) : decideAsFollower(view, options);
}

/** When a leader stops trusting its lease. Earlier than any other process can take it. */
export function leadsUntilMs(renewedAtMs: number, options: CompiledLeaderElectionOptions): number {
  return renewedAtMs + options.renewDeadlineMs;
}

/**
 * How long one attempt may take, as in client-go: half of the renew deadline, so that a request that hangs leaves time
 * for another one.
 */
function attemptTimeoutMs({ renewDeadlineMs }: CompiledLeaderElectionOptions): number {
  return renewDeadlineMs / 2;
}

function decideAsLeader(
  { isUrgent = false, last, nowMs }: LeaseView,
  term: NonNullable<LeaseView['term']>,
  options: CompiledLeaderElectionOptions,
): LeaseStep {
  if (last?.result === 'held') return { step: 'stepDown', reason: 'taken' };
  if (last && isInterrupted(last, term)) return { step: 'stepDown', reason: 'interrupted' };
  const leftMs = leadsUntilMs(term.renewedAtMs, options) - nowMs;
  if (leftMs <= 0) return { step: 'stepDown', reason: 'deadline' };
  const nextAtMs = (last?.sentAtMs ?? term.renewedAtMs) + options.retryPeriodMs;
  if (isUrgent || nowMs >= nextAtMs) {
    return { step: 'attempt', timeoutMs: Math.min(attemptTimeoutMs(options), leftMs) };
  }
  return { step: 'wait', waitMs: Math.min(nextAtMs - nowMs, leftMs) };
}

/**
 * Each acquisition ends the term before it. The epoch alone does not show it: a store that has lost our term, or was set
 * back to before it, gives the same epoch again. Nor does the outcome alone: the answer to the acquisition may be lost,
 * and the next attempt renews.
 */
function isInterrupted(last: FinishedAttempt, term: NonNullable<LeaseView['term']>): boolean {
  if (last.result === 'failed') return false;
  return last.result === 'acquired' || last.epoch !== term.epoch || last.acquireTime !== term.acquireTime;
}

function decideAsFollower({ nowMs, last }: LeaseView, options: CompiledLeaderElectionOptions): LeaseStep {
  if (!last) return { step: 'attempt', timeoutMs: attemptTimeoutMs(options) };
  // Right at the end of the observed lease: measured from the answer, hence never before it.
  const pauseMs = Math.min(last.retryMs, last.remainingMs ?? last.retryMs);
  const waitMs = last.endedAtMs + pauseMs - nowMs;
  return waitMs > 0 ? { step: 'wait', waitMs } : { step: 'attempt', timeoutMs: attemptTimeoutMs(options) };
}
