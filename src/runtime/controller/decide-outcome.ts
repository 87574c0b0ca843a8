import type { ActivationOutcome } from '../activation/activations.js';
import { errorMessage, hasCode, isCancellation } from '@rollkeeper/machinery/errors';
import { classifyFailure } from './classify-failure.js';
import type { ReconcileResult } from './reconciler.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

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

/** If others must act first, retries are rare from the start: 1 s, 2 s, 4 s … 10 min. */
const CALM_BACKOFF_MS = { first: 1000, longest: 600_000 } as const;

/**
 * The only place that maps the end of a sync to queue operations, after controller-runtime's `reconcileHandler`.
 * Success resets the backoff; a terminal error parks; anything else is retried with backoff, unless the failure was not
 * the key's own (stopped, superseded, cache behind). A refusal only counts the second time: the first may have met an
 * old cache, or a policy that was being changed.
 * @param retries consecutive failures before this sync
 */
export function decideOutcome(end: SyncEnd, retries: number): ActivationOutcome {
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
  return decideFailure(error, retries);
}

function decideFailure(error: unknown, retries: number): ActivationOutcome {
  const { first, longest } = CALM_BACKOFF_MS;
  const calmly = {
    action: 'retry',
    error,
    leastDelayMs: doublingDelayMs(retries, { firstMs: first, longestMs: longest }),
  } as const;
  switch (classifyFailure(error)) {
    case 'terminal':
      return { action: 'park', error };
    case 'refused':
      return retries === 0 ? calmly : { action: 'park', error };
    case 'blocked':
      return calmly;
    case 'transient':
      return { action: 'retry', error, leastDelayMs: 0 };
  }
}

function retryAfterOf(error: unknown): number | undefined {
  const value = (error as { retryAfterMs?: unknown }).retryAfterMs;
  return typeof value === 'number' ? value : undefined;
}
