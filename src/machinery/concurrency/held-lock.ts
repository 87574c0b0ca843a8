import type { Clock, TimerHandle } from '../clock/index.js';
import { KeyLockLostError } from '../errors/index.js';

export interface HeldLockOptions {
  readonly clock: Clock;
  /** How long the store keeps the lock for us after a request, milliseconds. */
  readonly durationMs: number;
  /** What the signal says when no renewal came in time. */
  readonly expiredMessage: string;
}

/** This share of the lock's duration is held back, because clocks run at different speeds. */
const SAFETY_SHARE = 0.05;

/**
 * A lock in a store, held as far as our own clock can tell. The deadline is counted on the local monotonic clock from before the
 * request was sent, so that neither a slow answer nor a paused process nor a jump of the wall clock can make us believe in
 * a lock that is gone. Whoever renews it says so here.
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
   * Looks at the clock instead of waiting for a timer: when the process was paused or its event loop blocked, what was
   * waited for goes on before any timer fires. Once it has thrown, the signal has aborted.
   * @throws KeyLockLostError when the lock may have expired or was lost
   */
  assertHeld(): void {
    if (this.options.clock.monotonicNow() >= this.heldUntilMs) this.expire();
    this.lost.signal.throwIfAborted();
  }

  /**
   * The store has granted the lock, or prolonged it.
   * @param sentAtMs monotonic clock, before the request was sent
   */
  renewed(sentAtMs: number): void {
    if (this.isOver) return;
    const { clock, durationMs } = this.options;
    this.deadline?.cancel();
    this.heldUntilMs = sentAtMs + durationMs * (1 - SAFETY_SHARE);
    const leftMs = this.heldUntilMs - clock.monotonicNow();
    // Not left to a timer: nothing may begin under a lock that has run out.
    if (leftMs <= 0) this.expire();
    else this.deadline = clock.setTimeout(() => this.expire(), leftMs);
  }

  /** The store says that another has it. */
  lose(message: string): void {
    if (this.isOver) return;
    this.end();
    this.lost.abort(new KeyLockLostError(message));
  }

  /** We do not need it any more. */
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
