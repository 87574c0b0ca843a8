import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';

interface ByteBudgetOptions<H extends Holder> {
  /** How much may be held together. */
  readonly limit: number;
  readonly clock: Pick<Clock, 'monotonicNow' | 'setTimeout'>;
  /** How long room may be held without progress while others wait for it, milliseconds. */
  readonly patienceMs: number;
  /** The same without waiters. */
  readonly stallMs: number;
  /** Called with the evicted holders, all of one moment together. @default no-op */
  readonly onGivenUp?: (holders: readonly H[], length: number) => void;
}

/** A holder of room, as the budget sees it. */
export interface Holder {
  /** Requests of one flow, which is one user, share one part of the room. */
  readonly flow: string;
  /** Release everything: others need the room. Called at most once. */
  giveUp(): void;
}

/** Reserved room. */
export interface Reservation {
  /**
   * Reports progress. After ENOUGH bytes the holder moves to the back of the eviction order; trickling does not count.
   */
  progress(length: number): void;
  /** It no longer depends on a client, and cannot be evicted. */
  settle(): void;
  /** Doing so twice does nothing. */
  release(): void;
}

/** Bytes that count as progress: at the shortest patience, half a megabit in a second. */
const ENOUGH = 64 * 1024;

/** A demand of at most this part of the limit is small. */
const SMALL_PART = 1 / 128;

/**
 * The part of the limit that may be filled by demands of a flow below its share, and of one beyond it: small demands find
 * room beside large ones, and a flow that holds little beside one that holds much.
 */
const PARTS = {
  belowShare: { small: 1, large: 7 / 8 },
  beyondShare: { small: 13 / 16, large: 3 / 4 },
};

/**
 * Bounds the memory that depends on the pace of clients, reading and sending. Requests wait for room: the flow that holds
 * least is served first, and of its demands the smallest. The holder without progress for longest gives way to waiters,
 * first those of flows beyond their share. A demand beyond the whole limit is granted when nothing else is held.
 */
export class ByteBudget<H extends Holder = Holder> {
  private used = 0;
  /** The holder that has been without progress for longest comes first. */
  private readonly held = new Set<Held<H>>();
  private readonly heldByFlow = new Map<string, number>();
  /** By flow: the smallest first; of equal ones the oldest. */
  private readonly waiting = new Map<string, Waiter[]>();
  private timer: TimerHandle | undefined;
  private isStopped = false;

  constructor(private readonly options: ByteBudgetOptions<H>) {}

  /** The number of bytes that are held now. */
  get length(): number {
    return this.used;
  }

  /** Room immediately, if there is some and no equal or smaller demand of the flow waits. */
  tryReserve(length: number, holder: H): Reservation | undefined {
    const next = this.waiting.get(holder.flow)?.[0];
    if (next && next.length <= length) return undefined;
    return this.fits(length, holder.flow) ? this.hold(length, holder) : undefined;
  }

  /** Rejects with the reason of `signal` when it aborts before there is room. */
  reserve(length: number, holder: H, signal: AbortSignal): Promise<Reservation> {
    const early = this.tryReserve(length, holder);
    if (early) return Promise.resolve(early);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.leave(holder.flow, waiter);
        reject(reasonOf(signal));
        this.serve();
      };
      const grant = (): void => {
        signal.removeEventListener('abort', leave);
        this.leave(holder.flow, waiter);
        resolve(this.hold(length, holder));
      };
      const waiter: Waiter = { length, grant };
      if (signal.aborted) return reject(reasonOf(signal));
      this.enqueue(holder.flow, waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.watch();
    });
  }

  /** Stops checking for stalled holders. */
  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private enqueue(flow: string, waiter: Waiter): void {
    const waiters = this.waiting.get(flow) ?? [];
    const place = waiters.findIndex((other) => other.length > waiter.length);
    waiters.splice(place < 0 ? waiters.length : place, 0, waiter);
    this.waiting.set(flow, waiters);
  }

  private leave(flow: string, waiter: Waiter): void {
    const waiters = this.waiting.get(flow);
    if (!waiters) return;
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.waiting.delete(flow);
  }

  private fits(length: number, flow: string): boolean {
    return this.used === 0 || this.used + length <= this.boundOf(length, flow);
  }

  private boundOf(length: number, flow: string): number {
    const { limit } = this.options;
    const part = PARTS[this.isBelowShare(flow, length) ? 'belowShare' : 'beyondShare'];
    return limit * (length <= limit * SMALL_PART ? part.small : part.large);
  }

  /** With this much more. Counts one flow more than there are, so that a newcomer finds room as well. */
  private isBelowShare(flow: string, more = 0): boolean {
    const others = this.heldByFlow.size - (this.heldByFlow.has(flow) ? 1 : 0);
    return this.heldBy(flow) + more <= this.options.limit / (others + 2);
  }

  private heldBy(flow: string): number {
    return this.heldByFlow.get(flow) ?? 0;
  }

  private addTo(flow: string, length: number): void {
    this.used += length;
    const held = this.heldBy(flow) + length;
    if (held > 0) this.heldByFlow.set(flow, held);
    else this.heldByFlow.delete(flow);
  }

  private hold(length: number, holder: H): Reservation {
    const sinceMs = this.options.clock.monotonicNow();
    const { flow } = holder;
    const held: Held<H> = { flow, length, holder, sinceMs, moved: 0, isSettled: false };
    this.addTo(flow, length);
    this.held.add(held);
    this.watch();
    return {
      progress: (moved) => this.renew(held, moved),
      settle: () => (held.isSettled = true),
      release: () => this.release(held),
    };
  }

  private renew(held: Held<H>, moved: number): void {
    held.moved += moved;
    if (held.moved < ENOUGH || !this.held.delete(held)) return;
    held.moved = 0;
    held.sinceMs = this.options.clock.monotonicNow();
    this.held.add(held);
  }

  private release(held: Held<H>): void {
    if (!this.held.delete(held)) return;
    this.addTo(held.flow, -held.length);
    this.serve();
  }

  private serve(): void {
    while (this.serveNext());
  }

  /** Whether there was one that fits. */
  private serveNext(): boolean {
    let next: Waiter | undefined;
    let least = Infinity;
    for (const [flow, [first]] of this.waiting) {
      const held = this.heldBy(flow);
      if (!first || held >= least || !this.fits(first.length, flow)) continue;
      next = first;
      least = held;
    }
    next?.grant();
    return next !== undefined;
  }

  /** Checks periodically, only while room is held. */
  private watch(): void {
    const { clock, patienceMs } = this.options;
    if (this.isStopped) return;
    this.timer ??= clock.setTimeout(() => {
      this.timer = undefined;
      this.makeWay(patienceMs);
      if (this.held.size > 0 || this.waiting.size > 0) this.watch();
    }, patienceMs);
  }

  private makeWay(patienceMs: number): void {
    const { clock, onGivenUp, stallMs } = this.options;
    const nowMs = clock.monotonicNow();
    const stalled = [...this.held].filter((held) => !held.isSettled && nowMs - held.sinceMs >= patienceMs);
    const { belowShare: few = [], beyondShare: most = [] } = Object.groupBy(stalled, ({ flow }) =>
      this.isBelowShare(flow) ? 'belowShare' : 'beyondShare',
    );
    const given: Held<H>[] = [];
    let freed = 0;
    const giveUp = (those: readonly Held<H>[], wanted: number): void => {
      for (const held of those) {
        if (nowMs - held.sinceMs < (freed < wanted ? patienceMs : stallMs)) continue;
        freed += held.length;
        given.push(held);
      }
    };
    giveUp(
      most,
      this.wanted(() => true),
    );
    // A flow with little gives way to others with little only.
    giveUp(
      few,
      this.wanted((flow) => this.isBelowShare(flow)),
    );
    if (given.length === 0) return;
    for (const { holder } of given) holder.giveUp();
    for (const held of given) this.release(held);
    onGivenUp?.(
      given.map(({ holder }) => holder),
      freed,
    );
  }

  /** How much has to be released so that those who wait find room. */
  private wanted(counts: (flow: string) => boolean): number {
    let demand = 0;
    let bound = Infinity;
    for (const [flow, waiters] of this.waiting) {
      if (!counts(flow)) continue;
      for (const { length } of waiters) {
        demand += length;
        bound = Math.min(bound, this.boundOf(length, flow));
      }
    }
    return demand === 0 ? 0 : this.used - bound + demand;
  }
}

interface Held<H> {
  readonly flow: string;
  readonly length: number;
  readonly holder: H;
  sinceMs: number;
  moved: number;
  isSettled: boolean;
}

interface Waiter {
  readonly length: number;
  readonly grant: () => void;
}
