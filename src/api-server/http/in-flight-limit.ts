/** How many requests of one sort are served at once, and how many more may wait for their turn. */
export interface InFlightLimits {
  readonly serving: number;
  readonly waiting: number;
}

/**
 * Bounds the requests under way: a few more wait in line, and there is no room beyond. A request that waits is nothing
 * but a connection; its body has not been read.
 */
export class InFlightLimit {
  private serving = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limits: InFlightLimits) {}

  /**
   * A place, which has to be given back by calling it once; a promise of one where others are before; `undefined` where
   * there is none. The promise rejects with the reason of `signal` when it aborts before.
   */
  enter(signal: () => AbortSignal): (() => void) | Promise<() => void> | undefined {
    if (this.serving < this.limits.serving) return this.place();
    return this.waiting.size < this.limits.waiting ? this.wait(signal()) : undefined;
  }

  private place(): () => void {
    this.serving++;
    return () => {
      this.serving--;
      const [next] = this.waiting;
      next?.();
    };
  }

  private wait(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(grant);
        reject(signal.reason as Error);
      };
      const grant = (): void => {
        this.waiting.delete(grant);
        signal.removeEventListener('abort', leave);
        resolve(this.place());
      };
      if (signal.aborted) return leave();
      this.waiting.add(grant);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
