import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { SystemClock } from '@rollkeeper/machinery/clock';

/**
 * A clock whose wall time can be set forward or back, as an administrator or NTP does. Durations and timers are
 * unaffected.
 */
export class SteppedClock implements Clock {
  private stepMs = 0;

  /** @param clock the underlying clock. @default the system's */
  constructor(private readonly clock: Clock = new SystemClock()) {}

  /** @param ms negative: back */
  step(ms: number): void {
    this.stepMs += ms;
  }

  now(): number {
    return this.clock.now() + this.stepMs;
  }

  monotonicNow(): number {
    return this.clock.monotonicNow();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    return this.clock.setTimeout(callback, delayMs);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.clock.sleep(delayMs, signal);
  }
}
