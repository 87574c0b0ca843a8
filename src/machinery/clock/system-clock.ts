import type { Clock, TimerHandle } from './clock.js';
import { MAX_TIMER_MS, sleepOn } from './clock.js';

/** The machine's clocks. Timers keep the event loop alive while they are pending. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonicNow(): number {
    return performance.now();
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
    return { cancel: () => clearTimeout(timer) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }
}
