import { aborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import { IllegalStateError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';

/** Processes one key. Returns when to run again by itself, milliseconds from now. */
export type KeyWork = (key: string, signal: AbortSignal) => Promise<{ readonly wakeInMs?: number }>;

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;

/**
 * Runs work by key within one process: never concurrently for one key, once more if the key was added in the meantime,
 * at most `concurrency` keys at once, and again with backoff after a failure.
 */
export class KeyedExecutor {
  private readonly waiting = new Set<string>();
  private readonly active = new Set<string>();
  private readonly dirty = new Set<string>();
  private readonly timers = new Map<string, TimerHandle>();
  private readonly failures = new Map<string, number>();
  private signal: AbortSignal | undefined;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly work: KeyWork,
    private readonly options: {
      readonly concurrency: number;
      /** The clock of `wakeInMs`. */
      readonly clock: Clock;
      /** The clock of the backoff. @default clock */
      readonly backoffClock?: Clock;
      readonly logger: Logger;
    },
  ) {}

  add(key: string): void {
    if (this.signal?.aborted) return;
    if (this.active.has(key)) this.dirty.add(key);
    else this.waiting.add(key);
    this.fill();
  }

  /** Processes keys until aborted, then waits for those in progress. A second call throws. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.signal) throw new IllegalStateError('the executor is already running');
    this.signal = signal;
    this.fill();
    await aborted(signal);
    this.waiting.clear();
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
    if (this.active.size > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
  }

  private fill(): void {
    if (!this.signal || this.signal.aborted) return;
    for (const key of this.waiting) {
      if (this.active.size >= this.options.concurrency) return;
      this.waiting.delete(key);
      this.active.add(key);
      void this.runOne(key, this.signal);
    }
  }

  private async runOne(key: string, signal: AbortSignal): Promise<void> {
    this.timers.get(key)?.cancel();
    this.timers.delete(key);
    try {
      const { wakeInMs } = await this.work(key, signal);
      this.failures.delete(key);
      if (wakeInMs !== undefined) this.wake(key, wakeInMs);
    } catch (error) {
      if (!signal.aborted) this.wake(key, this.backoff(key, error), this.options.backoffClock);
    }
    this.active.delete(key);
    if (this.dirty.delete(key) && !signal.aborted) this.waiting.add(key);
    this.fill();
    if (this.active.size === 0) this.onIdle?.();
  }

  private backoff(key: string, error: unknown): number {
    const failures = (this.failures.get(key) ?? 0) + 1;
    this.failures.set(key, failures);
    const delayMs = doublingDelayMs(failures - 1, { firstMs: FIRST_BACKOFF_MS, longestMs: MAX_BACKOFF_MS });
    this.options.logger.warn('will try again', { key, failures, delayMs, error: errorMessage(error) });
    return delayMs;
  }

  private wake(key: string, delayMs: number, clock = this.options.clock): void {
    if (this.signal?.aborted) return;
    const timer = clock.setTimeout(() => {
      this.timers.delete(key);
      this.add(key);
    }, delayMs);
    this.timers.set(key, timer);
  }
}
