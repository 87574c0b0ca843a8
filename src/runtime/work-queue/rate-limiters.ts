import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/**
 * The arithmetic of retries, without state or clock. The same numbers as client-go's default controller rate
 * limiter (util/workqueue/default_rate_limiters.go): a per-key exponential backoff together with one token bucket
 * for all keys, whichever asks for the longer wait. `lua/rate-limit-3.lua` repeats it on the server; the contract
 * suite holds both to the same figures.
 */
export interface BackoffOptions {
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
}

export interface TokenBucketOptions {
  /** Tokens that come back per second. */
  readonly bucketRatePerSecond: number;
  /** Tokens of a full bucket. */
  readonly bucketBurst: number;
}

/** `tokens` may be negative: so many are promised to callers who wait for them. */
export interface TokenBucketState {
  readonly tokens: number;
  readonly atMs: number;
}

/** The wait after `failures` earlier failures in a row: base × 2^failures, at most the maximum. */
export function exponentialBackoffMs(failures: number, options: BackoffOptions): number {
  return doublingDelayMs(failures, { firstMs: options.backoffBaseMs, longestMs: options.backoffMaxMs });
}

/**
 * Takes one token, now or from the future, and says how long the taker waits for it.
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
