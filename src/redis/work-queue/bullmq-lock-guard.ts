import type { Clock } from '@rollkeeper/machinery/clock';
import { HeldLock } from '@rollkeeper/machinery/concurrency';
import type { RenewalObserver } from './bullmq-internals.js';

interface GuardedJob {
  readonly key: string;
  readonly lock: HeldLock;
}

/**
 * Tracks the locks of running jobs. If BullMQ fails to renew one in time, the job's handler is aborted before another
 * worker can get the job.
 */
export class BullMqLockGuard implements RenewalObserver {
  private readonly jobs = new Map<string, GuardedJob>();

  constructor(
    private readonly clock: Clock,
    private readonly lockDurationMs: number,
  ) {}

  /**
   * @param takenAtMs wall clock when the lock was requested
   * @returns the signal for the job's handler
   */
  track(jobId: string, key: string, takenAtMs: number): AbortSignal {
    const { clock, lockDurationMs } = this;
    const ageMs = Math.min(Math.max(clock.now() - takenAtMs, 0), lockDurationMs);
    const expiredMessage = `the queue's lock on ${key} could not be renewed in time`;
    const lock = new HeldLock(
      { clock, durationMs: lockDurationMs, expiredMessage },
      clock.monotonicNow() - ageMs,
    );
    this.jobs.set(jobId, { key, lock });
    return lock.signal;
  }

  untrack(jobId: string): void {
    this.jobs.get(jobId)?.lock.letGo();
    this.jobs.delete(jobId);
  }

  renewed(jobId: string, sentAtMs: number): void {
    this.jobs.get(jobId)?.lock.renewed(sentAtMs);
  }

  lost(jobId: string): void {
    const job = this.jobs.get(jobId);
    job?.lock.lose(`the queue gave ${job.key} to another worker`);
  }
}
