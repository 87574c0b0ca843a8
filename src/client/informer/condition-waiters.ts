import { reasonOf } from '@rollkeeper/machinery/cancellation';

interface Waiter {
  readonly isMet: () => boolean;
  readonly resolve: () => void;
}

/**
 * Waiters for a condition on the cache. `check` evaluates each waiter's condition; without waiters it costs nothing.
 */
export class ConditionWaiters {
  private readonly waiters = new Set<Waiter>();

  get size(): number {
    return this.waiters.size;
  }

  /** Resolves as soon as a `check` finds the condition met; rejects with the signal's reason. */
  async waitUntil(isMet: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (isMet()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.waiters.delete(waiter);
        reject(reasonOf(signal));
      };
      const waiter: Waiter = {
        isMet,
        resolve: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiters.add(waiter);
    });
  }

  /** Something has changed: releases every waiter whose condition is met. */
  check(): void {
    for (const waiter of this.waiters) {
      if (!waiter.isMet()) continue;
      this.waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
