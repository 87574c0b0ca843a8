/** How many requests of one sort are served at once, and how many more may wait for their turn. */
export interface InFlightLimits {
  readonly serving: number;
  readonly waiting: number;
}

interface Waiter {
  grant(): void;
  refuse(): void;
}

/**
 * Bounds the requests under way, fairly between flows (users, say): a few more wait in line, flows take turns at the places that become
 * free, and when the line is full, the last of the longest flow makes room for one that has less. A request that waits is
 * nothing but a connection; its body has not been worked on.
 */
export class InFlightLimit {
  private serving = 0;
  private waiting = 0;
  /** The flow whose turn is next comes first; within a flow who came first. */
  private readonly flows = new Map<string, Set<Waiter>>();

  /** @param refusal what is thrown at those for whom there is no room */
  constructor(
    private readonly limits: InFlightLimits,
    private readonly refusal: () => Error,
  ) {}

  /**
   * A place, which has to be given back by calling it once; a promise of one where others are before. The promise rejects with the
   * reason of `signal` when it aborts before, and with the refusal when it has to make room.
   * @throws the refusal
   */
  enter(flow: string, signal: () => AbortSignal): (() => void) | Promise<() => void> {
    if (this.serving < this.limits.serving) return this.place();
    if (this.waiting >= this.limits.waiting) this.makeRoomFor(flow);
    return this.wait(flow, signal());
  }

  private place(): () => void {
    this.serving++;
    return () => {
      this.serving--;
      this.grantNext();
    };
  }

  private grantNext(): void {
    for (const [flow, waiters] of this.flows) {
      // Its next turn comes after everybody else's.
      this.flows.delete(flow);
      this.flows.set(flow, waiters);
      const [first] = waiters;
      return first?.grant();
    }
  }

  private makeRoomFor(flow: string): void {
    const own = this.flows.get(flow)?.size ?? 0;
    const longest = [...this.flows.values()].reduce<Set<Waiter> | undefined>(
      (most, waiters) => (waiters.size > (most?.size ?? 0) ? waiters : most),
      undefined,
    );
    if (!longest || longest.size <= own + 1) throw this.refusal();
    [...longest].at(-1)?.refuse();
  }

  private wait(flow: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const leave = (): void => {
        this.remove(flow, waiter);
        signal.removeEventListener('abort', abandon);
      };
      const abandon = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        grant: () => {
          leave();
          resolve(this.place());
        },
        refuse: () => {
          leave();
          reject(this.refusal());
        },
      };
      const waiters = this.flows.get(flow) ?? new Set();
      this.flows.set(flow, waiters.add(waiter));
      this.waiting++;
      signal.addEventListener('abort', abandon, { once: true });
    });
  }

  private remove(flow: string, waiter: Waiter): void {
    const waiters = this.flows.get(flow);
    if (!waiters?.delete(waiter)) return;
    this.waiting--;
    if (waiters.size === 0) this.flows.delete(flow);
  }
}
