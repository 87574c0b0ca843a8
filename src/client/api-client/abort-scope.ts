import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';

export interface SilenceLimit {
  /** Silence that is too long, milliseconds. */
  readonly timeoutMs: number;
  /** Until the request is so old, milliseconds, silence says nothing. @default 0 */
  readonly silentUntilMs?: number;
}

/**
 * One request's own AbortSignal: aborts with the caller's signal, and after a time of silence with an error of ours.
 * Cheaper and tidier than `AbortSignal.any`: {@link AbortScope.close} leaves nothing behind on a long-lived signal.
 */
export class AbortScope {
  private readonly link: LinkedAbort;
  private timer?: TimerHandle;
  private readonly heedFromMs: number;
  private deadlineMs = 0;

  constructor(
    private readonly clock: Clock,
    parent: AbortSignal | undefined,
    private readonly limit: SilenceLimit,
    private readonly timeoutError: () => Error,
  ) {
    this.link = parent ? new LinkedAbort(parent) : new LinkedAbort();
    this.heedFromMs = clock.monotonicNow() + (limit.silentUntilMs ?? 0);
    this.deadlineMs = this.heedFromMs + limit.timeoutMs;
    this.arm();
  }

  get signal(): AbortSignal {
    return this.link.signal;
  }

  /** Something was heard: silence counts from now. Costs no timer. */
  touch(): void {
    this.deadlineMs = Math.max(this.clock.monotonicNow(), this.heedFromMs) + this.limit.timeoutMs;
  }

  /** Ends what still runs under this scope, quietly. */
  abort(reason: Error): void {
    this.link.abort(reason);
    this.close();
  }

  /** Lets go of the timer and of the parent. */
  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.link.close();
  }

  private arm(): void {
    const remainingMs = this.deadlineMs - this.clock.monotonicNow();
    this.timer = this.clock.setTimeout(() => {
      if (this.clock.monotonicNow() < this.deadlineMs) this.arm();
      else this.abort(this.timeoutError());
    }, remainingMs);
  }
}
