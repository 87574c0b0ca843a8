import type { Clock } from '@rollkeeper/machinery/clock';

/** Notifies all pending calls of `next` of a change. */
export class ChangeSignal {
  private waiting = new Set<() => void>();

  constructor(private readonly clock: Pick<Clock, 'setTimeout'>) {}

  notify(): void {
    const woken = this.waiting;
    this.waiting = new Set();
    for (const wake of woken) wake();
  }

  /** Resolves at the next change, after `timeoutMs`, or when the signal aborts. */
  async next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.clock.setTimeout(resolve, timeoutMs);
    this.waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    try {
      await promise;
    } finally {
      timer.cancel();
      this.waiting.delete(resolve);
    }
  }
}
