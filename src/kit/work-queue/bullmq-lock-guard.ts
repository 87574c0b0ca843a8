import type { Processor, WorkerOptions } from 'bullmq';
import { Worker } from 'bullmq';
import type { Clock, TimerHandle } from '../../base/clock/index.js';
import { KeyLockLostError } from '../../base/errors/index.js';

interface GuardedJob {
  readonly key: string;
  readonly controller: AbortController;
  timer: TimerHandle;
}

/** This share of the lock's duration is kept in hand for clocks that run at different speeds. */
const SAFETY_SHARE = 0.05;

/**
 * Aborts the handler of a job whose lock BullMQ could not renew: at once when Redis says that it is lost, otherwise
 * by the local monotonic clock, counted from before the last renewal was sent, and before another worker can get
 * the job. BullMQ itself only emits `lockRenewalFailed` and lets the job run on.
 */
export class BullMqLockGuard {
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

  /** @param sentAtMs monotonic clock, before the renewal was sent */
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

/** A BullMQ worker that reports every renewal to a {@link BullMqLockGuard}. */
export class GuardedWorker<Data, Result, Name extends string> extends Worker<Data, Result, Name> {
  constructor(
    name: string,
    processor: Processor<Data, Result, Name>,
    options: WorkerOptions,
    private readonly guard: BullMqLockGuard,
    private readonly guardClock: Clock,
  ) {
    super(name, processor, options);
  }

  override async extendJobLocks(jobIds: string[], tokens: string[], duration: number): Promise<string[]> {
    const sentAtMs = this.guardClock.monotonicNow();
    const lost = await super.extendJobLocks(jobIds, tokens, duration);
    for (const jobId of jobIds) {
      if (lost.includes(jobId)) this.guard.lost(jobId);
      else this.guard.renewed(jobId, sentAtMs);
    }
    return lost;
  }
}
