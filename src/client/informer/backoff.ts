import type { RandomSource } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Doubling delays, spread over their upper half so that many clients do not return at the same instant. */
export class Backoff {
  private failures = 0;

  constructor(
    private readonly limits: BackoffLimits,
    private readonly random: RandomSource,
  ) {}

  /** The next delay, in (0.5 … 1) × the doubled one; never above the maximum. */
  nextMs(): number {
    const fullMs = doublingDelayMs(this.failures, {
      firstMs: this.limits.firstMs,
      longestMs: this.limits.maxMs,
    });
    this.failures = Math.min(this.failures + 1, 30);
    return fullMs * (0.5 + 0.5 * this.random.next());
  }

  reset(): void {
    this.failures = 0;
  }
}
