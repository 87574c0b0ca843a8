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

/** The part of a lock that our own clock can prove. Times are of the local monotonic clock, milliseconds. */
export interface Hold {
  readonly untilMs: number;
  /** Expired, lost or let go: no later answer of the store revives it. */
  readonly isOver: boolean;
}

/**
 * The hold once the store has granted or extended the lock.
 * @param before absent: it has just been acquired
 * @param sentAtMs before the request was sent
 */
export function holdAfter(
  before: Hold | undefined,
  sentAtMs: number,
  durationMs: number,
  nowMs: number,
): Hold {
  if (before?.isOver) return before;
  const untilMs = sentAtMs + durationMs * (1 - SAFETY_SHARE);
  return { untilMs, isOver: nowMs >= untilMs };
}

/** The hold as time passes. Left to no timer: after a pause of the process, awaited results continue before any fires. */
export function holdAt(hold: Hold, nowMs: number): Hold {
  return hold.isOver || nowMs < hold.untilMs ? hold : { ...hold, isOver: true };
}

/**
 * A lock in a store, as far as our own clock can prove that we hold it. The deadline is measured on the local monotonic
 * clock from before the request was sent, so that neither a slow answer nor a paused process nor a jump of the wall
 * clock can make us rely on an expired lock. The code that renews the lock reports it here.
 */
export class HeldLock {
  private readonly lost = new AbortController();
  private deadline: TimerHandle | undefined;
  private hold: Hold;
  private isEnded = false;

  /** @param sentAtMs monotonic clock, before the acquiring request was sent */
  constructor(
    private readonly options: HeldLockOptions,
    sentAtMs: number,
  ) {
    this.hold = holdAfter(undefined, sentAtMs, options.durationMs, options.clock.monotonicNow());
    this.watchDeadline();
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
    if (holdAt(this.hold, this.options.clock.monotonicNow()).isOver) this.expire();
    this.lost.signal.throwIfAborted();
  }

  /**
   * The store has granted or extended the lock.
   * @param sentAtMs monotonic clock, before the request was sent
   */
  renewed(sentAtMs: number): void {
    const { clock, durationMs } = this.options;
    const next = holdAfter(this.hold, sentAtMs, durationMs, clock.monotonicNow());
    if (next === this.hold) return;
    this.hold = next;
    this.watchDeadline();
  }

  /** The store reports another holder. */
  lose(message: string): void {
    if (this.isEnded) return;
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
    this.isEnded = true;
    this.hold = { ...this.hold, isOver: true };
    this.deadline?.cancel();
  }

  private watchDeadline(): void {
    const { clock } = this.options;
    this.deadline?.cancel();
    // Not left to a timer: no work may start under an expired lock.
    if (this.hold.isOver) this.expire();
    else this.deadline = clock.setTimeout(() => this.expire(), this.hold.untilMs - clock.monotonicNow());
  }
}
