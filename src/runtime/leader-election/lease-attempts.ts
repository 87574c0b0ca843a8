import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { jitter } from '@rollkeeper/machinery/clock';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { FinishedAttempt } from './decide-lease-step.js';
import type { LeaderElectionMetrics, CompiledLeaderElectionOptions } from './leader-election.options.js';
import type { LeaderElectionRecord, LeaseAttempt, LeaseRequest, ResourceLock } from './resource-lock.js';

interface LeaseAttemptsDependencies {
  readonly lock: ResourceLock;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly metrics: LeaderElectionMetrics;
  readonly options: CompiledLeaderElectionOptions;
  /** Called with each record in the store's answers. */
  readonly onRecord: (record: LeaderElectionRecord) => void;
}

/** A follower that is notified of a release, and knows when the lease ends, asks so many times as seldom. */
const FACTOR_IF_TOLD = 3;

/** Single attempts at the lease, bounded in time. A failure is an outcome like any other: the loop interprets it. */
export class LeaseAttempts {
  constructor(private readonly deps: LeaseAttemptsDependencies) {}

  async attempt(
    timeoutMs: number,
    signal: AbortSignal,
    request: Omit<LeaseRequest, 'signal'> = {},
  ): Promise<FinishedAttempt> {
    const { lock, clock, logger, metrics, options } = this.deps;
    const sentAtMs = clock.monotonicNow();
    const answer = await this.bounded(timeoutMs, signal, (limit) =>
      lock.tryAcquireOrRenew(options.leaseDurationMs, { ...request, signal: limit }),
    ).catch((error: unknown) => {
      if (!signal.aborted) {
        logger.warn('attempt at the leader lease failed', {
          lock: lock.describe(),
          error: errorMessage(error),
        });
      }
      return undefined;
    });
    const endedAtMs = clock.monotonicNow();
    const result = answer?.outcome ?? 'failed';
    metrics.attempt(result, endedAtMs - sentAtMs);
    if (answer) this.deps.onRecord(answer.record);
    const factor = result === 'held' && lock.knowsItsEnd ? FACTOR_IF_TOLD : 1;
    return { sentAtMs, endedAtMs, result, retryMs: this.retryMs() * factor, ...detailsOf(answer) };
  }

  /** @throws if the store does not answer in time */
  release(): Promise<boolean> {
    const { lock, options } = this.deps;
    return this.bounded(options.renewDeadlineMs, new AbortController().signal, (limit) =>
      lock.release(limit),
    );
  }

  retryMs(): number {
    const { retryPeriodMs, jitterFactor } = this.deps.options;
    return jitter(retryPeriodMs, jitterFactor, this.deps.random);
  }

  /** Enforces the timeout here; late answers are dropped. */
  private async bounded<T>(
    timeoutMs: number,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new LinkedAbort(signal);
    const timer = this.deps.clock.setTimeout(
      () => limit.abort(new TimeoutError(`no answer within ${Math.round(timeoutMs)} ms`)),
      timeoutMs,
    );
    try {
      signal.throwIfAborted();
      return await abortable(ask(limit.signal), limit.signal);
    } finally {
      timer.cancel();
      limit.close();
    }
  }
}

function detailsOf(answer: LeaseAttempt | undefined): Partial<FinishedAttempt> {
  if (!answer) return {};
  const { acquireTime, leaderTransitions: epoch } = answer.record;
  return answer.outcome === 'held'
    ? { acquireTime, epoch, remainingMs: answer.remainingMs }
    : { acquireTime, epoch };
}

/** One change of leadership, as this process saw it. */
export interface LeadershipTransition {
  /** Identity; empty if the lease was found free. */
  readonly who: string;
  readonly epoch: number;
  /** `started leading`, `observed`, `stopped: <reason>`. */
  readonly why: string;
  /** Wall clock, milliseconds since the epoch. */
  readonly atMs: number;
}

/** The last transitions, oldest first. */
export class LeadershipHistory {
  private readonly kept: LeadershipTransition[] = [];

  constructor(private readonly limit = 100) {}

  add(transition: LeadershipTransition): void {
    this.kept.push(transition);
    if (this.kept.length > this.limit) this.kept.shift();
  }

  list(): readonly LeadershipTransition[] {
    return [...this.kept];
  }
}
