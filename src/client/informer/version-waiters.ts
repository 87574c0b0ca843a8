import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { CacheProgress } from './cache-progress.js';

/** The server's version found by a read; `read` counts reads, to tell which ones began after a wait did. */
export interface Reading {
  readonly read: number;
  readonly resourceVersion: string;
}

interface Waiter {
  readonly version: string;
  /** How many reads had begun when the wait did. */
  readonly since: number;
  readonly beganMs: number;
  /** The version found by a later read: nothing newer can have been meant. */
  present?: string;
  readonly resolve: () => void;
}

interface VersionWaitersDependencies {
  readonly clock: Clock;
  readonly progress: CacheProgress;
  /** How many reads have begun. */
  readonly reads: () => number;
  /** A wait is taking too long: asks the server for its version. Must not reject. */
  readonly doubt: () => Promise<void>;
  /** Time after which a wait is too long, milliseconds; from there the pauses double. */
  readonly doubtAfterMs: number;
}

const LONGEST_DOUBT_PAUSE_MS = 16_000;

/**
 * Waits for a cache to show a resourceVersion. The watch usually satisfies them within milliseconds. If it takes too
 * long, the server is asked: the watch may be dead, the server may have lost the version (restored from a backup), or
 * no event carries it. A wait ends once the cache shows what the server had at a moment after the wait began, whichever
 * version that is.
 */
export class VersionWaiters {
  private readonly waiters = new Set<Waiter>();
  private timer: (TimerHandle & { readonly dueMs: number }) | undefined;
  private isDoubting = false;
  private doubts = 0;
  private isRunning = false;

  constructor(private readonly deps: VersionWaitersDependencies) {}

  get size(): number {
    return this.waiters.size;
  }

  /** Duration of the longest current wait, milliseconds. */
  get longestMs(): number {
    const nowMs = this.deps.clock.monotonicNow();
    // The first is the oldest.
    for (const { beganMs } of this.waiters) return nowMs - beganMs;
    return 0;
  }

  /** Enables {@link VersionWaitersDependencies.doubt} from now on. */
  start(): void {
    this.isRunning = true;
    this.armFor(this.deps.doubtAfterMs);
  }

  stop(): void {
    this.isRunning = false;
    this.disarm();
  }

  /** Resolves as soon as the cache shows `version` or a later state; rejects with the signal's reason. */
  async wait(version: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { doubtAfterMs, progress, reads } = this.deps;
    if (progress.hasSeen(version)) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.waiters.delete(waiter);
        if (this.waiters.size === 0) this.disarm();
        reject(reasonOf(signal));
      };
      const waiter: Waiter = {
        version,
        since: reads(),
        beganMs: this.deps.clock.monotonicNow(),
        resolve: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiters.add(waiter);
      this.armFor(progress.isDoubtful(version) ? 0 : doubtAfterMs);
    });
  }

  /** The cache has changed: releases every satisfied waiter. */
  check(): void {
    const { progress } = this.deps;
    for (const waiter of this.waiters) {
      const { present, version } = waiter;
      if (!progress.hasSeen(version)) {
        if (present === undefined || !progress.hasSeen(present)) continue;
        progress.noteMet(version);
      }
      this.waiters.delete(waiter);
      waiter.resolve();
    }
    if (this.waiters.size === 0) this.disarm();
  }

  /** A fresh read satisfies every waiter that started earlier, once the cache shows its version. */
  learn({ read, resourceVersion }: Reading): void {
    const { progress } = this.deps;
    for (const waiter of this.waiters) {
      if (waiter.since >= read) continue;
      waiter.present ??= resourceVersion;
      progress.noteLost(waiter.version, resourceVersion);
    }
    this.check();
  }

  private armFor(delayMs: number): void {
    if (!this.isRunning || this.isDoubting || this.waiters.size === 0) return;
    const dueMs = this.deps.clock.monotonicNow() + delayMs;
    if (this.timer && this.timer.dueMs <= dueMs) return;
    this.timer?.cancel();
    this.timer = { dueMs, ...this.deps.clock.setTimeout(() => void this.doubt(), delayMs) };
  }

  private disarm(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.doubts = 0;
  }

  private async doubt(): Promise<void> {
    const { doubt, doubtAfterMs, progress, reads } = this.deps;
    this.timer = undefined;
    this.isDoubting = true;
    const asked = reads();
    await doubt();
    this.isDoubting = false;
    if (this.waiters.size === 0) return;
    // A waiter that started after the request has no answer yet.
    const isNew = ({ since, version }: Waiter): boolean => since > asked && progress.isDoubtful(version);
    const pauseMs = doublingDelayMs(this.doubts++, {
      firstMs: doubtAfterMs,
      longestMs: LONGEST_DOUBT_PAUSE_MS,
    });
    this.armFor([...this.waiters].some(isNew) ? 0 : pauseMs);
  }
}
