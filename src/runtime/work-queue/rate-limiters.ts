import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/**
 * The arithmetic of retries, without state or clock. The same numbers as client-go's default controller rate limiter
 * (util/workqueue/default_rate_limiters.go): a per-key exponential backoff and one token bucket for all keys; the
 * longer wait wins. `lua/rate-limit-3.lua` repeats it on the server; the contract suite holds both to the same figures.
 */
export interface BackoffOptions {
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

export interface TokenBucketOptions {
  /** Tokens added per second. */
  readonly bucketRatePerSecond: number;
  /** Tokens of a full bucket. */
  readonly bucketBurst: number;
}

/** `tokens` may be negative: that many are promised to waiting callers. */
export interface TokenBucketState {
  readonly tokens: number;
  readonly atMs: number;
}

/** The delay after this many consecutive failures: base × 2^failures, at most the maximum. */
export function exponentialBackoffMs(failures: number, options: BackoffOptions): number {
  return doublingDelayMs(failures, { firstMs: options.backoffBaseMs, longestMs: options.backoffMaxMs });
}

/**
 * Takes one token, now or from the future, and returns the caller's wait for it.
 * @param state `undefined`: a full bucket
 */
export function reserveToken(
  state: TokenBucketState | undefined,
  nowMs: number,
  options: TokenBucketOptions,
): { readonly state: TokenBucketState; readonly delayMs: number } {
  const { bucketRatePerSecond: rate, bucketBurst: burst } = options;
  const elapsedMs = state ? Math.max(nowMs - state.atMs, 0) : 0;
  const available = state ? Math.min(state.tokens + (elapsedMs * rate) / 1000, burst) : burst;
  const tokens = available - 1;
  return { state: { tokens, atMs: nowMs }, delayMs: tokens >= 0 ? 0 : (-tokens * 1000) / rate };
}
