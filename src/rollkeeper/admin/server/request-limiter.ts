import type { Clock } from '@rollkeeper/machinery/clock';
import type { TokenBucketState } from '@rollkeeper/runtime/work-queue';
import { reserveToken } from '@rollkeeper/runtime/work-queue';

interface RequestLimits {
  readonly bucketRatePerSecond: number;
  readonly bucketBurst: number;
}

/** Requests per address. */
export const REQUEST_LIMITS: RequestLimits = { bucketRatePerSecond: 100, bucketBurst: 400 };
/** Wrong tokens per address: ten at once, then one in six seconds. */
export const GUESS_LIMITS: RequestLimits = { bucketRatePerSecond: 1 / 6, bucketBurst: 10 };

/** Limit of remembered addresses; the least recently seen is evicted. */
const ADDRESSES = 1000;

/** A token bucket per address. */
export class RequestLimiter {
  private readonly buckets = new Map<string, TokenBucketState>();

  constructor(
    private readonly clock: Pick<Clock, 'monotonicNow'>,
    private readonly limits: RequestLimits,
  ) {}

  /** How long a request would have to wait, milliseconds; 0: it may pass. Does not count it. */
  waitOf(address: string): number {
    return reserveToken(this.buckets.get(address), this.clock.monotonicNow(), this.limits).delayMs;
  }

  /** Counts a request. Returns how long it would have to wait, milliseconds; 0: it may pass. */
  take(address: string): number {
    const now = this.clock.monotonicNow();
    const { delayMs, state } = reserveToken(this.buckets.get(address), now, this.limits);
    if (delayMs > 0) return delayMs;
    this.buckets.delete(address);
    this.buckets.set(address, state);
    const [oldest] = this.buckets.keys();
    if (this.buckets.size > ADDRESSES && oldest !== undefined) this.buckets.delete(oldest);
    return 0;
  }
}
