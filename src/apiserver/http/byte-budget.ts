import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';

export interface ByteBudgetOptions<H extends Holder> {
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
/** The part of the limit that demands which are not small may fill together: small ones find room beside them. */
const LARGE_PART = 3 / 4;

/**
 * Bounds the memory that depends on the pace of clients, reading and sending: requests wait for room, the smallest
 * demand first, and the holder without progress for longest gives way to waiters. A demand beyond the whole limit is
 * granted when nothing else is held.
 */
export class ByteBudget<H extends Holder = Holder> {
  private used = 0;
  /** Those longest without progress first. */
  private readonly held = new Set<Held<H>>();
  /** The smallest first; of equal ones the oldest. */
  private readonly waiting: Waiter[] = [];
  private timer: TimerHandle | undefined;
  private isStopped = false;

  constructor(private readonly options: ByteBudgetOptions<H>) {}

  /** What is held now. */
  get length(): number {
    return this.used;
  }

  /** Room immediately, if there is some and no equal or smaller demand waits. */
  tryReserve(length: number, holder: H): Reservation | undefined {
    const [next] = this.waiting;
    if (next && next.length <= length) return undefined;
    return this.fits(length) ? this.hold(length, holder) : undefined;
  }

  /** Rejects with the reason of `signal` when it aborts before there is room. */
  reserve(length: number, holder: H, signal: AbortSignal): Promise<Reservation> {
    const early = this.tryReserve(length, holder);
    if (early) return Promise.resolve(early);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        reject(reasonOf(signal));
        this.serve();
      };
      const grant = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(this.hold(length, holder));
      };
      const waiter: Waiter = { length, grant };
      if (signal.aborted) return reject(reasonOf(signal));
      const place = this.waiting.findIndex((other) => other.length > length);
      this.waiting.splice(place < 0 ? this.waiting.length : place, 0, waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.watch();
    });
  }

  /** Stops checking for stalled holders. */
  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private fits(length: number): boolean {
    return this.used === 0 || this.used + length <= this.boundOf(length);
  }

  private boundOf(length: number): number {
    const { limit } = this.options;
    return length <= limit * SMALL_PART ? limit : limit * LARGE_PART;
  }

  private hold(length: number, holder: H): Reservation {
    const sinceMs = this.options.clock.monotonicNow();
    const held: Held<H> = { length, holder, sinceMs, moved: 0, isSettled: false };
    this.used += length;
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
    this.used -= held.length;
    this.serve();
  }

  private serve(): void {
    for (let next = this.waiting[0]; next && this.fits(next.length); next = this.waiting[0]) {
      this.waiting.shift();
      next.grant();
    }
  }

  /** Checks periodically, only while room is held. */
  private watch(): void {
    const { clock, patienceMs } = this.options;
    if (this.isStopped) return;
    this.timer ??= clock.setTimeout(() => {
      this.timer = undefined;
      this.makeWay(patienceMs);
      if (this.held.size > 0 || this.waiting.length > 0) this.watch();
    }, patienceMs);
  }

  private makeWay(patienceMs: number): void {
    const { clock, onGivenUp, stallMs } = this.options;
    const nowMs = clock.monotonicNow();
    let wanted = this.used - this.boundOf(this.waiting.at(-1)?.length ?? 0);
    for (const { length } of this.waiting) wanted += length;
    const given: Held<H>[] = [];
    let freed = 0;
    for (const held of this.held) {
      const waitedMs = nowMs - held.sinceMs;
      if (waitedMs < (freed < wanted && this.waiting.length > 0 ? patienceMs : stallMs)) break;
      if (held.isSettled) continue;
      freed += held.length;
      given.push(held);
    }
    if (given.length === 0) return;
    for (const { holder } of given) holder.giveUp();
    for (const held of given) this.release(held);
    onGivenUp?.(
      given.map(({ holder }) => holder),
      freed,
    );
  }
}

interface Held<H> {
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
