import type { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { SyncTimeoutError } from '@rollkeeper/machinery/errors';
import type { WorkLimit } from './activation.js';

interface WorkBounds {
  readonly clock: Clock;
  /** Cancels the work, for any reason. */
  readonly abort: LinkedAbort;
  /** Absent: no time limit. */
  readonly limit?: WorkLimit;
  /** For messages. */
  readonly name: string;
}

/**
 * Runs `work` with a time limit: cancelled at the limit, and abandoned if it does not end within the grace time after
 * that. A result after the limit is discarded: writes were refused in the meantime.
 * @throws SyncTimeoutError with the error of the work, if any, as its cause
 */
export async function runBounded<R>(work: () => Promise<R>, bounds: WorkBounds): Promise<R> {
  const { abort, clock, limit, name } = bounds;
  if (!limit) return work();
  let timeout: SyncTimeoutError | undefined;
  const timer = clock.setTimeout(() => {
    timeout = new SyncTimeoutError(`the sync of ${name} took longer than ${limit.timeoutMs} ms`);
    abort.abort(timeout);
    if (abort.signal.reason === timeout) limit.onTimeout?.();
  }, limit.timeoutMs);
  try {
    const result = await untilAbandoned(work, bounds, limit.graceMs);
    if (timeout && abort.signal.reason === timeout) throw timeout;
    return result;
  } catch (error) {
    if (!timeout || abort.signal.reason !== timeout || error === timeout) throw error;
    throw new SyncTimeoutError(timeout.message, { cause: error });
  } finally {
    timer.cancel();
  }
}

/** Settles with the work, or rejects with the reason of the abort once the grace time is over. */
function untilAbandoned<R>(
  work: () => Promise<R>,
  { abort: { signal }, clock }: WorkBounds,
  graceMs: number,
): Promise<R> {
  let grace: TimerHandle | undefined;
  const { promise, reject, resolve } = Promise.withResolvers<R>();
  const stopListening = onAbort(signal, () => {
    grace = clock.setTimeout(() => reject(signal.reason as Error), graceMs);
  });
  work().then(resolve, reject);
  return promise.finally(() => {
    grace?.cancel();
    stopListening();
  });
}
