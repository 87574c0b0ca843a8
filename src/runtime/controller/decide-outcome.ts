import type { ActivationOutcome } from '../activation/activations.js';
import { errorMessage, hasCode, isCancellation } from '@rollkeeper/machinery/errors';
import { classifyFailure } from './classify-failure.js';
import type { ReconcileResult } from './reconciler.js';

/** How a sync ended. */
export type SyncEnd =
  | { readonly ended: 'ok'; readonly result: ReconcileResult }
  | { readonly ended: 'failed'; readonly error: unknown };

/** Delay for a key whose lock is held by another activation, if its expiry is unknown. */
const LOCK_HELD_DELAY_MS = 100;
/**
 * Delay for a key of a replica whose lease has expired. Without it, the key would fail again at once. On queues in
 * memory it would do so over and over without a turn of the event loop, and the process would never notice the loss.
 */
const LEASE_LOST_DELAY_MS = 50;
/** Delay for a cache that has fallen behind. */
const STALE_CACHE_DELAY_MS = 200;

/** How long to leave a key to replicas of a newer release. */
const NEWER_STATE_DELAY_MS = 1000;

/**
 * The only place that maps the end of a sync to queue operations, after controller-runtime's `reconcileHandler`.
 * Success resets the backoff; a terminal error parks; anything else is retried with backoff, unless the failure was not
 * the key's own (stopped, superseded, cache behind). A refusal is no exception: the policy that refuses may be changed
 * the next moment, and only after many attempts does the queue park the key.
 */
export function decideOutcome(end: SyncEnd): ActivationOutcome {
  if (end.ended === 'ok') {
    const { requeueAfterMs } = end.result;
    return requeueAfterMs === undefined
      ? { action: 'done' }
      : { action: 'requeue-after', delayMs: requeueAfterMs };
  }
  const { error } = end;
  // Regardless of the error it threw when cancelled.
  if (hasCode(error, 'SYNC_TIMEOUT')) return { action: 'retry', error, leastDelayMs: 0 };
  if (isCancellation(error)) {
    const delayMs = hasCode(error, 'LEASE_LOST') ? LEASE_LOST_DELAY_MS : 0;
    return { action: 'come-back', delayMs, why: errorMessage(error) };
  }
  if (hasCode(error, 'KEY_LOCK_HELD') || hasCode(error, 'WRITE_UNDER_WAY')) {
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
  if (classifyFailure(error) === 'terminal') return { action: 'park', error };
  return { action: 'retry', error, leastDelayMs: 0 };
}

function retryAfterOf(error: unknown): number | undefined {
  const value = (error as { retryAfterMs?: unknown }).retryAfterMs;
  return typeof value === 'number' ? value : undefined;
}
