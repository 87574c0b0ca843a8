import type { Clock, TimerHandle } from './clock.js';
import { sleepOn } from './clock.js';

/** Longest delay that a timer of the platform can hold; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's clocks. Timers keep the event loop alive while they are pending. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonicNow(): number {
    return performance.now();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const wholeMs = Math.max(delayMs, 0);
    const dueMs = this.monotonicNow() + wholeMs;
    let timer: NodeJS.Timeout;
    /** A timer of the platform holds no more than 25 days; the rest waits for the next one. */
    const arm = (leftMs: number): void => {
      if (leftMs <= MAX_TIMER_MS) timer = setTimeout(callback, leftMs);
      else timer = setTimeout(() => arm(Math.max(dueMs - this.monotonicNow(), 0)), MAX_TIMER_MS);
    };
    arm(wholeMs);
    return { cancel: () => clearTimeout(timer) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }
}
