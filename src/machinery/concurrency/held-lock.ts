import type { Clock, TimerHandle } from '../clock/index.js';
import { KeyLockLostError } from '../errors/index.js';

export interface HeldLockOptions {
  readonly clock: Clock;
  /** How long the store keeps the lock after a request, milliseconds. */
  readonly durationMs: number;
  /** Message of the signal's reason if no renewal came in time. */
  readonly expiredMessage: string;
}

/** Safety margin as a share of the lock's duration, because clocks run at different speeds. */
const SAFETY_SHARE = 0.05;

/**
 * A lock in a store, as far as our own clock can prove that we hold it. The deadline is measured on the local monotonic
 * clock from before the request was sent, so that neither a slow answer nor a paused process nor a jump of the wall
 * clock can make us rely on an expired lock. The code that renews the lock reports it here.
 */
export class HeldLock {
  private readonly lost = new AbortController();
  private deadline: TimerHandle | undefined;
  private heldUntilMs = 0;
  private isOver = false;

  /** @param sentAtMs monotonic clock, before the acquiring request was sent */
  constructor(
    private readonly options: HeldLockOptions,
    sentAtMs: number,
  ) {
    this.renewed(sentAtMs);
  }

  /** Aborts with KeyLockLostError before the store can have let the lock expire. Never after {@link letGo}. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /**
   * Checks the clock instead of relying on a timer: after a pause of the process or a blocked event loop, awaited
   * results continue before any timer fires. Once it has thrown, the signal has aborted.
   * @throws KeyLockLostError if the lock may have expired or was lost
   */
  assertHeld(): void {
    if (this.options.clock.monotonicNow() >= this.heldUntilMs) this.expire();
    this.lost.signal.throwIfAborted();
  }

  /**
   * The store has granted or extended the lock.
   * @param sentAtMs monotonic clock, before the request was sent
   */
  renewed(sentAtMs: number): void {
    if (this.isOver) return;
    const { clock, durationMs } = this.options;
    this.deadline?.cancel();
    this.heldUntilMs = sentAtMs + durationMs * (1 - SAFETY_SHARE);
    const leftMs = this.heldUntilMs - clock.monotonicNow();
    // Not left to a timer: no work may start under an expired lock.
    if (leftMs <= 0) this.expire();
    else this.deadline = clock.setTimeout(() => this.expire(), leftMs);
  }

  /** The store reports another holder. */
  lose(message: string): void {
    if (this.isOver) return;
    this.end();
    this.lost.abort(new KeyLockLostError(message));
  }

  /** The lock is no longer needed. */
  letGo(): void {
    this.end();
  }

  private expire(): void {
    this.lose(this.options.expiredMessage);
  }

  private end(): void {
    this.isOver = true;
    this.deadline?.cancel();
  }
}
