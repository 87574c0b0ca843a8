import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';

/** How many requests of one sort are served at once, and how many more may wait for their turn. */
interface InFlightLimits {
  readonly serving: number;
  readonly waiting: number;
  /** How long one waits before it is refused, milliseconds. @default for as long as it takes */
  readonly waitMs?: number;
}

interface InFlightLimitDependencies {
  readonly clock: Pick<Clock, 'setTimeout'>;
  /** The error for requests for which there is no room. */
  readonly refusal: () => Error;
}

/** The share of the places that is kept for flows that have less than their share. */
const RESERVED = 0.25;

interface Waiter {
  readonly grant: () => void;
  readonly refuse: () => void;
}

/**
 * Bounds concurrent requests, fairly between flows (users, say): a few more wait in a queue, and flows take turns when
 * places become free. A quarter of the places is reserved for flows below an equal share, so that one whose requests
 * hang leaves room for others. When the queue is full, the last request of the longest flow makes room for a shorter
 * flow. A waiting request is only a connection; its body has not been processed.
 */
export class InFlightLimit {
  private serving = 0;
  private waiting = 0;
  /** Places by flow; a flow without places is not in it. */
  private readonly held = new Map<string, number>();
  /** The flow whose turn is next comes first. Within a flow the order is that of arrival. */
  private readonly flows = new Map<string, Set<Waiter>>();

  constructor(
    private readonly limits: InFlightLimits,
    private readonly dependencies: InFlightLimitDependencies,
  ) {}

  /**
   * Returns a function that releases the place, and must be called once; a promise of it if others are before. The promise
   * rejects with the reason of `signal` when it aborts before, and with the refusal when it has to make room or has waited for
   * too long.
   * @throws the refusal
   */
  enter(flow: string, signal: () => AbortSignal): (() => void) | Promise<() => void> {
    if (this.mayServe(flow)) return this.place(flow);
    if (this.waiting >= this.limits.waiting) this.makeRoomFor(flow);
    return this.wait(flow, signal());
  }

  private mayServe(flow: string): boolean {
    const { serving } = this.limits;
    if (this.serving >= serving) return false;
    if (this.serving < serving - Math.floor(serving * RESERVED)) return true;
    // Counts one flow more than there are, so that a newcomer finds room as well.
    return this.heldBy(flow) < serving / (this.held.size + 1);
  }

  private heldBy(flow: string): number {
    return this.held.get(flow) ?? 0;
  }

  private place(flow: string): () => void {
    this.serving++;
    this.held.set(flow, this.heldBy(flow) + 1);
    return () => {
      this.serving--;
      const left = this.heldBy(flow) - 1;
      if (left > 0) this.held.set(flow, left);
      else this.held.delete(flow);
      while (this.grantNext());
    };
  }

  /** Whether there was one. One request that ends can make room for several: where its flow has none left, the shares of the others grow. */
  private grantNext(): boolean {
    for (const [flow, waiters] of this.flows) {
      if (!this.mayServe(flow)) continue;
      // Moves to the end of the round.
      this.flows.delete(flow);
      this.flows.set(flow, waiters);
      const [first] = waiters;
      first?.grant();
      return true;
    }
    return false;
  }

  private makeRoomFor(flow: string): void {
    const own = this.flows.get(flow)?.size ?? 0;
    const longest = [...this.flows.values()].reduce<Set<Waiter> | undefined>(
      (most, waiters) => (waiters.size > (most?.size ?? 0) ? waiters : most),
      undefined,
    );
    if (!longest || longest.size <= own + 1) throw this.dependencies.refusal();
    [...longest].at(-1)?.refuse();
  }

  private wait(flow: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(reasonOf(signal));
      const leave = (): void => {
        this.remove(flow, waiter);
        late?.cancel();
        signal.removeEventListener('abort', abandon);
      };
      const abandon = (): void => {
        leave();
        reject(reasonOf(signal));
      };
      const waiter: Waiter = {
        grant: () => {
          leave();
          resolve(this.place(flow));
        },
        refuse: () => {
          leave();
          reject(this.dependencies.refusal());
        },
      };
      const { waitMs } = this.limits;
      const late =
        waitMs === undefined ? undefined : this.dependencies.clock.setTimeout(waiter.refuse, waitMs);
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
