import type { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { SyncTimeoutError } from '@rollkeeper/machinery/errors';
import type { WorkLimit } from './actor.js';

export interface WorkBounds {
  readonly clock: Clock;
  /** Tells the work to end, for whatever reason. */
  readonly abort: LinkedAbort;
  /** Absent: it may take as long as it likes. */
  readonly limit?: WorkLimit;
  /** For messages. */
  readonly name: string;
}

/**
 * Runs `work` and bounds its time: told to end when the time is over, and left to itself when it does not end within the grace
 * time after it was told to. A result that comes after the time counts for nothing: writes were refused meanwhile.
 * @throws SyncTimeoutError with what the work threw, if it did, as its cause
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

/** Settles as the work does, or rejects with the reason of the abort once the grace time is over. */
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
