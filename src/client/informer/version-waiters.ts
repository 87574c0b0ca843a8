import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import type { CacheProgress } from './cache-progress.js';

/** What a read has found on the server; `read` counts the reads, so that one knows which of them began after a wait did. */
export interface Reading {
  readonly read: number;
  readonly resourceVersion: string;
}

interface Waiter {
  readonly version: string;
  /** How many reads had begun when the wait did. */
  readonly since: number;
  readonly beganMs: number;
  /** What a read that began later has found: nothing newer than that can have been meant. */
  present?: string;
  readonly resolve: () => void;
}

export interface VersionWaitersDependencies {
  readonly clock: Clock;
  readonly progress: CacheProgress;
  /** How many reads have begun. */
  readonly reads: () => number;
  /** Somebody waits for too long: asks the server where it is. Must not reject. */
  readonly doubt: () => Promise<void>;
  /** A wait of this long is too long, milliseconds; from there the pauses double. */
  readonly doubtAfterMs: number;
}

const LONGEST_DOUBT_PAUSE_MS = 16_000;

/**
 * Who waits for a cache to show a resourceVersion. Most are met by the watch within milliseconds. Where that takes too long,
 * the server is asked: the watch may have died without a word, the server may have lost what is waited for (it was restored
 * from a backup), or the version may be of a kind that no event tells of. A wait is over once the cache shows what the
 * server had at a moment after the wait began, whatever that is called.
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

  /** How long somebody has been waiting by now, milliseconds. */
  get longestMs(): number {
    const nowMs = this.deps.clock.monotonicNow();
    // The first is the oldest.
    for (const { beganMs } of this.waiters) return nowMs - beganMs;
    return 0;
  }

  /** From now on doubts may be had. */
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
        reject(signal.reason as Error);
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

  /** The cache has changed: lets go of everyone who was waiting for that. */
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

  /** A read that shows what there is now: who began to wait before it did needs to see no more than that. */
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
    // Who came after the question was put has no answer yet.
    const isNew = ({ since, version }: Waiter): boolean => since > asked && progress.isDoubtful(version);
    const pauseMs = doublingDelayMs(this.doubts++, {
      firstMs: doubtAfterMs,
      longestMs: LONGEST_DOUBT_PAUSE_MS,
    });
    this.armFor([...this.waiters].some(isNew) ? 0 : pauseMs);
  }
}
