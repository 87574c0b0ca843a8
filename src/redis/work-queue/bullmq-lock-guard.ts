import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { KeyLockLostError } from '@rollkeeper/machinery/errors';
import type { RenewalObserver } from './bullmq-internals.js';

interface GuardedJob {
  readonly key: string;
  readonly controller: AbortController;
  timer: TimerHandle;
}

/** This share of the lock's duration is held back, because clocks run at different speeds. */
const SAFETY_SHARE = 0.05;

/**
 * Aborts the handler of a job whose lock BullMQ could not renew: at once when Redis says that it is lost, otherwise
 * by the local monotonic clock, counted from before the last renewal was sent, and before another worker can get
 * the job.
 */
export class BullMqLockGuard implements RenewalObserver {
  private readonly jobs = new Map<string, GuardedJob>();

  constructor(
    private readonly clock: Clock,
    private readonly lockDurationMs: number,
  ) {}

  /**
   * @param takenAtMs wall clock when the lock was asked for
   * @returns the signal of the job's handler
   */
  track(jobId: string, key: string, takenAtMs: number): AbortSignal {
    const controller = new AbortController();
    const ageMs = Math.min(Math.max(this.clock.now() - takenAtMs, 0), this.lockDurationMs);
    const timer = this.expiryTimer(key, controller, this.clock.monotonicNow() - ageMs);
    this.jobs.set(jobId, { key, controller, timer });
    return controller.signal;
  }

  untrack(jobId: string): void {
    this.jobs.get(jobId)?.timer.cancel();
    this.jobs.delete(jobId);
  }

  renewed(jobId: string, sentAtMs: number): void {
    const job = this.jobs.get(jobId);
    if (!job || job.controller.signal.aborted) return;
    job.timer.cancel();
    job.timer = this.expiryTimer(job.key, job.controller, sentAtMs);
  }

  lost(jobId: string): void {
    const job = this.jobs.get(jobId);
    if (!job) return;
    job.timer.cancel();
    job.controller.abort(new KeyLockLostError(`the queue gave ${job.key} to another worker`));
  }

  private expiryTimer(key: string, controller: AbortController, fromMs: number): TimerHandle {
    const deadlineMs = fromMs + this.lockDurationMs * (1 - SAFETY_SHARE);
    return this.clock.setTimeout(
      () => controller.abort(new KeyLockLostError(`the queue's lock on ${key} could not be renewed in time`)),
      deadlineMs - this.clock.monotonicNow(),
    );
  }
}
