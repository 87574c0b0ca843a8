import type { Clock } from '../../base/clock/index.js';
import { TimeoutError } from '../../base/errors/index.js';
import type { HealthCheck } from './health-check.js';

/**
 * Fails when the event loop was held up for longer than `limitMs` at the last tick. A probe that is answered at
 * all proves that the loop turns; this tells a loop that limps from one that runs.
 */
export class EventLoopMonitor implements HealthCheck {
  readonly name = 'event-loop';
  private lastDelayMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly options: { readonly intervalMs: number; readonly limitMs: number } = {
      intervalMs: 500,
      limitMs: 5000,
    },
  ) {}

  /** Measures until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.clock.monotonicNow();
      await this.clock.sleep(this.options.intervalMs, signal).catch(() => undefined);
      if (!signal.aborted) this.lastDelayMs = this.clock.monotonicNow() - startedMs - this.options.intervalMs;
    }
  }

  check(): void {
    if (this.lastDelayMs > this.options.limitMs) {
      throw new TimeoutError(`the event loop was held up for ${Math.round(this.lastDelayMs)} ms`);
    }
  }
}
