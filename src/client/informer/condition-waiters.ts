interface Waiter {
  readonly isMet: () => boolean;
  readonly resolve: () => void;
}

/** Who waits for the cache to get somewhere. `check` costs one look at each waiter, nothing where there is none. */
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
        reject(signal.reason as Error);
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

  /** Something has changed: lets go of everyone whose condition is met. */
  check(): void {
    for (const waiter of this.waiters) {
      if (!waiter.isMet()) continue;
      this.waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
