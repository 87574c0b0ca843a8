import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { KeyLockLostError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';

export interface KeyLockDependencies {
  /** For messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lockDurationMs: number;
  /** One attempt; whether the lock is still ours. Rejects when nobody answers. */
  readonly renew: () => Promise<boolean>;
}

/** This share of the lock's duration is held back, because clocks run at different speeds. */
const SAFETY_SHARE = 0.05;
/** Renewals per lock duration. */
const RENEWALS = 3;
/** A renewal that failed is tried again after this share of the duration. */
const RETRY_SHARE = 0.1;
/** Shared: creating an exception with its stack, as `abort` does without a reason, would be most of the cost of letting go. */
const LET_GO = new Error('the lock was let go');

/**
 * A lock that is held and kept. Its signal aborts with KeyLockLostError before the store can have let the lock
 * expire: the deadline is counted on the local monotonic clock from before the request was sent, so that neither a
 * slow answer nor a paused process nor a jump of the wall clock can make us believe in a lock that is gone.
 */
export class KeyLock {
  private readonly lost = new AbortController();
  /** Aborts with `lost` or with {@link stop}: no more renewals. */
  private readonly over = new AbortController();
  private deadline: TimerHandle;
  private heldUntilMs = 0;

  /** @param sentAtMs monotonic clock, before the acquiring request was sent */
  constructor(
    private readonly dependencies: KeyLockDependencies,
    sentAtMs: number,
  ) {
    this.deadline = this.deadlineFrom(sentAtMs);
  }

  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Looks at the clock instead of waiting for a timer: when the process was paused or its event loop blocked, what was
   * waited for goes on before any timer fires. Once it has thrown, the signal has aborted.
   * @throws KeyLockLostError when the lock may have expired or was lost
   */
  assertHeld(): void {
    if (this.dependencies.clock.monotonicNow() >= this.heldUntilMs) this.loseByTime();
    this.lost.signal.throwIfAborted();
  }

  /** Renews until {@link stop} or until the lock is lost. Never rejects. */
  async keep(): Promise<void> {
    await this.keepRenewing();
    this.deadline.cancel();
  }

  private async keepRenewing(): Promise<void> {
    const { clock, lockDurationMs, logger, name } = this.dependencies;
    const stop = this.over.signal;
    let pauseMs = lockDurationMs / RENEWALS;
    while (!stop.aborted) {
      try {
        await clock.sleep(pauseMs, stop);
        const sentAtMs = clock.monotonicNow();
        const held = await this.dependencies.renew();
        if (stop.aborted) return;
        if (!held) return this.lose(`somebody else has the lock of ${name}`);
        this.deadline.cancel();
        this.deadline = this.deadlineFrom(sentAtMs);
        pauseMs = Math.max(lockDurationMs / RENEWALS - (clock.monotonicNow() - sentAtMs), 0);
      } catch (error) {
        if (stop.aborted) return;
        logger.warn('a key lock could not be renewed', { actor: name, error });
        pauseMs = lockDurationMs * RETRY_SHARE;
      }
    }
  }

  /** No more renewals and no more aborts. */
  stop(): void {
    this.deadline.cancel();
    this.over.abort(LET_GO);
  }

  private deadlineFrom(sentAtMs: number): TimerHandle {
    const { clock, lockDurationMs } = this.dependencies;
    this.heldUntilMs = sentAtMs + lockDurationMs * (1 - SAFETY_SHARE);
    const leftMs = this.heldUntilMs - clock.monotonicNow();
    // Not left to a timer: nothing may begin under a lock that has run out.
    if (leftMs <= 0) this.loseByTime();
    return clock.setTimeout(() => this.loseByTime(), leftMs);
  }

  private loseByTime(): void {
    this.lose(`the lock of ${this.dependencies.name} could not be renewed in time`);
  }

  private lose(message: string): void {
    if (this.over.signal.aborted) return;
    this.lost.abort(new KeyLockLostError(message));
    this.over.abort(LET_GO);
  }
}
