import type { Clock } from '@rollkeeper/machinery/clock';

/** The handlers currently running on this replica, for gauges. */
export class RunningWork {
  private readonly startedAtMs = new Map<symbol, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonicNow'>) {}

  /** Returns a function that ends it and returns how long it ran. */
  start(): () => number {
    const id = Symbol('work');
    const startedAtMs = this.clock.monotonicNow();
    this.startedAtMs.set(id, startedAtMs);
    return () => {
      this.startedAtMs.delete(id);
      return this.clock.monotonicNow() - startedAtMs;
    };
  }

  get size(): number {
    return this.startedAtMs.size;
  }

  ages(): { unfinishedWorkMs: number; longestRunningMs: number } {
    const nowMs = this.clock.monotonicNow();
    let unfinishedWorkMs = 0;
    let longestRunningMs = 0;
    for (const startedAtMs of this.startedAtMs.values()) {
      unfinishedWorkMs += nowMs - startedAtMs;
      longestRunningMs = Math.max(longestRunningMs, nowMs - startedAtMs);
    }
    return { unfinishedWorkMs, longestRunningMs };
  }
}
