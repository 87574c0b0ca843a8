import type { Clock, TimerHandle } from './clock.js';
import { sleepOn } from './clock.js';

interface PendingTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that only moves when a test moves it. Timers fire in the order of their due times, ties in the order in which
 * they were set, and `now()` inside a callback is the callback's own due time.
 */
export class FakeClock implements Clock {
  private monotonicMs = 0;
  private order = 0;
  private readonly timers = new Set<PendingTimer>();

  /** @param wallMs initial value of `now()`, milliseconds since the epoch */
  constructor(private wallMs = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.wallMs;
  }

  monotonicNow(): number {
    return this.monotonicMs;
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    const timer: PendingTimer = {
      dueMs: this.monotonicMs + Math.max(delayMs, 0),
      order: this.order++,
      callback,
    };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Number of pending timers. A stopped component must leave none. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /**
   * Moves time forward by `ms`, firing what falls due, and lets promise callbacks run after each timer so that a
   * loop which sleeps again is seen by the same call.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.monotonicMs + ms;
    await fewTurns();
    for (let next = this.nextDue(endMs); next; next = this.nextDue(endMs)) {
      this.fire(next);
      await fewTurns();
    }
    this.moveTo(endMs);
    await fewTurns();
  }

  /**
   * As {@link advance}, for tests in which much follows from a timer: `settle` waits until that is done. Called before
   * time moves and after each move, not between timers of one instant.
   */
  async advanceThrough(ms: number, settle: () => Promise<void>): Promise<void> {
    const endMs = this.monotonicMs + ms;
    await settle();
    for (let next = this.nextDue(endMs); next; next = this.nextDue(endMs)) {
      const { dueMs } = next;
      for (let due: PendingTimer | undefined = next; due; due = this.nextDue(dueMs)) this.fire(due);
      await settle();
    }
    this.moveTo(endMs);
    await settle();
  }

  /** Moves only the wall clock, as an administrator or NTP would. */
  jumpWallClock(ms: number): void {
    this.wallMs += ms;
  }

  /** Sets only the wall clock. */
  setWallClock(epochMs: number): void {
    this.wallMs = epochMs;
  }

  private nextDue(endMs: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.timers) {
      if (timer.dueMs > endMs) continue;
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }

  private fire(timer: PendingTimer): void {
    this.moveTo(timer.dueMs);
    this.timers.delete(timer);
    timer.callback();
  }

  private moveTo(monotonicMs: number): void {
    this.wallMs += monotonicMs - this.monotonicMs;
    this.monotonicMs = monotonicMs;
  }
}

/** Runs everything that is already resolved. Uses macrotasks because promise chains have no fixed length. */
async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}
