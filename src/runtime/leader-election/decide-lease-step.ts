import type { CompiledLeaderElectionOptions } from './leader-election.options.js';

/** An attempt that is over. Times are of our own monotonic clock. */
export interface FinishedAttempt {
  /** Before the request left: nothing that the store has granted began earlier. */
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  /** `failed`: no answer, or an error; the store may have carried it out all the same. */
  readonly result: 'acquired' | 'renewed' | 'held' | 'failed';
  /** Of `held`: how long the holder can still have it. */
  readonly remainingMs?: number;
  /** Of an answer. */
  readonly epoch?: number;
  /** How long a follower waits after it. Drawn once for each attempt. */
  readonly retryMs: number;
}

/** What we are: `term` is what we believe to hold. */
export interface LeaseView {
  readonly nowMs: number;
  readonly term?: { readonly epoch: number; readonly renewedAtMs: number };
  /** Absent at the start, and after news that the lease is free or its holder is gone. */
  readonly last?: FinishedAttempt;
  /** A leader has something to say that cannot wait for its next renewal. */
  readonly isUrgent?: boolean;
}

export type StepDownReason =
  /** Somebody else has it. */
  | 'taken'
  /** It is ours again, but it was not in between. */
  | 'interrupted'
  /** No renewal succeeded in time. */
  | 'deadline';

export type LeaseStep =
  /** An attempt without an answer after `timeoutMs` is of no use any more. */
  | { readonly step: 'attempt'; readonly timeoutMs: number }
  | { readonly step: 'wait'; readonly waitMs: number }
  | { readonly step: 'stepDown'; readonly reason: StepDownReason };

/** What an elector does next. */
export function decideLeaseStep(view: LeaseView, options: CompiledLeaderElectionOptions): LeaseStep {
  return view.term ? decideAsLeader(view, view.term, options) : decideAsFollower(view, options);
}

/** When a leader stops to believe in its lease. Earlier than anybody else can take it. */
export function leadsUntilMs(renewedAtMs: number, options: CompiledLeaderElectionOptions): number {
  return renewedAtMs + options.renewDeadlineMs;
}

function decideAsLeader(
  { isUrgent = false, last, nowMs }: LeaseView,
  term: NonNullable<LeaseView['term']>,
  options: CompiledLeaderElectionOptions,
): LeaseStep {
  if (last?.result === 'held') return { step: 'stepDown', reason: 'taken' };
  // Epochs grow with each taking of the lease, so another one means that ours had ended.
  if (last?.epoch !== undefined && last.epoch !== term.epoch) {
    return { step: 'stepDown', reason: 'interrupted' };
  }
  const leftMs = leadsUntilMs(term.renewedAtMs, options) - nowMs;
  if (leftMs <= 0) return { step: 'stepDown', reason: 'deadline' };
  const nextAtMs = (last?.sentAtMs ?? term.renewedAtMs) + options.retryPeriodMs;
  if (isUrgent || nowMs >= nextAtMs) return { step: 'attempt', timeoutMs: leftMs };
  return { step: 'wait', waitMs: Math.min(nextAtMs - nowMs, leftMs) };
}

function decideAsFollower({ nowMs, last }: LeaseView, options: CompiledLeaderElectionOptions): LeaseStep {
  if (!last) return { step: 'attempt', timeoutMs: options.renewDeadlineMs };
  // Right at the end of the lease that we saw: counted from the answer, hence never before it.
  const pauseMs = Math.min(last.retryMs, last.remainingMs ?? last.retryMs);
  const waitMs = last.endedAtMs + pauseMs - nowMs;
  return waitMs > 0 ? { step: 'wait', waitMs } : { step: 'attempt', timeoutMs: options.renewDeadlineMs };
}
