import { errorMessage, hasCode, isCancellation } from '../errors/index.js';
import type { ReconcileResult } from './reconciler.js';

/** How a sync ended. */
export type SyncEnd =
  | { readonly ended: 'ok'; readonly result: ReconcileResult }
  | { readonly ended: 'failed'; readonly error: unknown };

/** What becomes of the key. */
export type Outcome =
  | { readonly action: 'done' }
  | { readonly action: 'requeue-after'; readonly delayMs: number }
  /** Not the key's fault: come back without counting a failure. */
  | { readonly action: 'come-back'; readonly delayMs: number; readonly why: string }
  | { readonly action: 'retry'; readonly error: unknown }
  | { readonly action: 'park'; readonly error: unknown };

/** How long to stay away from a key whose lock another activation holds, when that is not known better. */
const LOCK_HELD_DELAY_MS = 100;
/** How long to give a cache that has fallen behind. */
const STALE_CACHE_DELAY_MS = 200;

/** How long to leave a key to replicas of a newer release. */
const NEWER_STATE_DELAY_MS = 1000;

/**
 * The one place where the end of a sync turns into queue operations, after controller-runtime's `reconcileHandler`.
 * Success resets the backoff; a terminal error parks; anything else is retried with backoff, unless the
 * failure was not the key's own (stopped, overtaken, cache behind).
 */
export function decideOutcome(end: SyncEnd): Outcome {
  if (end.ended === 'ok') {
    const { requeueAfterMs } = end.result;
    return requeueAfterMs === undefined
      ? { action: 'done' }
      : { action: 'requeue-after', delayMs: requeueAfterMs };
  }
  const { error } = end;
  // Whatever it threw when it was told to end.
  if (hasCode(error, 'SYNC_TIMEOUT')) return { action: 'retry', error };
  if (isCancellation(error)) return { action: 'come-back', delayMs: 0, why: errorMessage(error) };
  if (hasCode(error, 'KEY_LOCK_HELD')) {
    return {
      action: 'come-back',
      delayMs: retryAfterOf(error) ?? LOCK_HELD_DELAY_MS,
      why: errorMessage(error),
    };
  }
  if (hasCode(error, 'STALE_CACHE')) {
    return { action: 'come-back', delayMs: STALE_CACHE_DELAY_MS, why: errorMessage(error) };
  }
  if (hasCode(error, 'NEWER_STATE')) {
    return { action: 'come-back', delayMs: NEWER_STATE_DELAY_MS, why: errorMessage(error) };
  }
  if (hasCode(error, 'TERMINAL')) return { action: 'park', error };
  return { action: 'retry', error };
}

function retryAfterOf(error: unknown): number | undefined {
  const value = (error as { retryAfterMs?: unknown }).retryAfterMs;
  return typeof value === 'number' ? value : undefined;
}
