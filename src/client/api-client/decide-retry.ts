import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/** How a failed attempt of a request ended. */
export type FailedAttempt =
  | { readonly type: 'connection' }
  | { readonly type: 'timeout' }
  | { readonly type: 'status'; readonly code: number; readonly retryAfterMs?: number };

interface RetrySituation {
  /** A request to the eviction subresource. @default false */
  readonly isEviction?: boolean;
  /** Reads are safe to repeat; writes may not be. */
  readonly read: boolean;
  /** Number of attempts so far, from 1. */
  readonly attempts: number;
  readonly failure: FailedAttempt;
  /** A number in [0, 1) for the jitter. */
  readonly chance: number;
}

export interface RetryLimits {
  readonly maxAttempts: number;
  /** Delay before the second attempt; doubles from there. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

type RetryDecision = { readonly retry: false } | { readonly retry: true; readonly delayMs: number };

const GIVE_UP: RetryDecision = { retry: false };

/**
 * Whether to retry a request, and when.
 *
 * A write is only retried if the server said that it did nothing: 429 (priority and fairness, before any work) and 503
 * with Retry-After (not serving yet, or no longer). A read is also retried after a broken connection, but not after a
 * timeout: the caller has waited long enough, and has a backoff of its own. An eviction that a PodDisruptionBudget
 * refuses is answered with 429 as well: the caller decides whether to wait for the budget.
 */
export function decideRetry(situation: RetrySituation, limits: RetryLimits): RetryDecision {
  const { failure, attempts } = situation;
  if (attempts >= limits.maxAttempts || !mayRepeat(situation)) return GIVE_UP;
  const asked = failure.type === 'status' ? failure.retryAfterMs : undefined;
  if (asked !== undefined && asked > limits.maxDelayMs) return GIVE_UP;
  const backoffMs = doublingDelayMs(attempts - 1, {
    firstMs: limits.firstDelayMs,
    longestMs: limits.maxDelayMs,
  });
  // Never earlier than the server asked, and with jitter.
  const delayMs =
    asked === undefined
      ? backoffMs * (0.5 + 0.5 * situation.chance)
      : asked + backoffMs * 0.5 * situation.chance;
  return { retry: true, delayMs };
}

function mayRepeat({ failure, isEviction, read }: RetrySituation): boolean {
  switch (failure.type) {
    case 'timeout':
      return false;
    case 'connection':
      return read;
    case 'status':
      if (failure.code === 429) return isEviction !== true;
      return failure.code === 503 && failure.retryAfterMs !== undefined;
  }
}
