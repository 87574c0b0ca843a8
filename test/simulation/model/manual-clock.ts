import type { Clock, TimerHandle } from '../../../src/machinery/clock/index.js';
import { sleepOn } from '../../../src/machinery/clock/clock.js';

interface Pending {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock that jumps from one timer to the next, without a turn of the event loop. */
export class ManualClock implements Clock {
  private nowMs = 0;
  private timers: Pending[] = [];

  now(): number {
    return this.nowMs;
  }

  monotonicNow(): number {
    return this.nowMs;
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const timer = { dueMs: this.nowMs + delayMs, callback };
    this.timers.push(timer);
    return { cancel: () => (this.timers = this.timers.filter((other) => other !== timer)) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  get hasTimer(): boolean {
    return this.timers.length > 0;
  }

  /** Moves to the timer that is due first, and fires it. */
  next(): void {
    const [first] = this.timers.toSorted((one, other) => one.dueMs - other.dueMs);
    if (!first) return;
    this.timers = this.timers.filter((other) => other !== first);
    this.nowMs = Math.max(this.nowMs, first.dueMs);
    first.callback();
  }
}
