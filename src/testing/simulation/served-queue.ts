import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { SupersededError } from '@rollkeeper/machinery/errors';
import type { BegunTerm, LeaderTerm, WorkItem, WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { MemoryWorkQueue } from '@rollkeeper/runtime/work-queue';

/** A key that was handed out, until its run is reported as ended or its hold expires. */
export interface HandedOut {
  readonly item: WorkItem;
  /** Proves the hold. */
  readonly run: number;
}

interface Held {
  readonly item: WorkItem;
  expiry: TimerHandle;
}

/**
 * A {@link MemoryWorkQueue} for consumers in other processes, which may die with a key: a hold that is not renewed
 * expires, and the key runs again. At least once, as with BullMQ.
 */
export class ServedQueue {
  readonly queue: MemoryWorkQueue;
  /** How many holds have expired. */
  stalled = 0;
  private readonly held = new Map<number, Held>();
  private runs = 0;
  private begun: { readonly term: LeaderTerm; readonly adds: BegunTerm } | undefined;

  constructor(
    name: string,
    private readonly clock: Clock,
    options: WorkQueueOptions,
  ) {
    this.queue = new MemoryWorkQueue({ name, clock, options });
  }

  /** Whether a leader's term has begun here. */
  get hasTerm(): boolean {
    return this.begun !== undefined;
  }

  /**
   * The adds of a term that has begun. Each is refused unless it is still the queue's term.
   * @throws SupersededError
   */
  inTerm(term: LeaderTerm): BegunTerm {
    const begun = this.begun;
    const isSame = begun?.term.epoch === term.epoch && begun.term.holder === term.holder;
    if (!begun || !isSame) throw supersededBy(begun?.term.epoch);
    return begun.adds;
  }

  /** @throws SupersededError */
  async beginTerm(term: LeaderTerm): Promise<void> {
    this.begun = { term, adds: await this.queue.beginTerm(term) };
  }

  /** The next key; waits up to `waitMs` for one, then resolves with undefined. */
  async take(waitMs: number): Promise<HandedOut | undefined> {
    const early = this.takeNow();
    if (early) return early;
    return new Promise((resolve) => {
      const look = (): void => {
        const taken = this.takeNow();
        if (taken) end(taken);
      };
      const end = (taken: HandedOut | undefined): void => {
        stopListening();
        timer.cancel();
        resolve(taken);
      };
      const stopListening = this.queue.onWork(look);
      const timer = this.clock.setTimeout(() => end(undefined), waitMs);
    });
  }

  /** Whether the run still holds its key; if so, for another full time. */
  async renew(run: number): Promise<boolean> {
    const held = this.held.get(run);
    if (!held) return false;
    held.expiry.cancel();
    held.expiry = this.expiryOf(run);
    return true;
  }

  /** The run has ended. Without an effect once its hold has expired. */
  async finish(run: number): Promise<void> {
    const held = this.held.get(run);
    if (!held) return;
    held.expiry.cancel();
    this.held.delete(run);
    this.queue.done(held.item.key);
  }

  /** All of it is lost. */
  drop(): void {
    for (const { expiry } of this.held.values()) expiry.cancel();
    this.held.clear();
    this.begun = undefined;
    this.queue.clear();
  }

  private takeNow(): HandedOut | undefined {
    const item = this.queue.takeNext();
    if (!item) return undefined;
    const run = ++this.runs;
    this.held.set(run, { item, expiry: this.expiryOf(run) });
    return { item, run };
  }

  private expiryOf(run: number): TimerHandle {
    const { lockDurationMs, stalledIntervalMs } = this.queue.options;
    return this.clock.setTimeout(() => void this.expire(run), lockDurationMs + stalledIntervalMs);
  }

  private async expire(run: number): Promise<void> {
    const held = this.held.get(run);
    if (!held) return;
    this.stalled += 1;
    this.held.delete(run);
    const { key, priority, reason } = held.item;
    await this.queue.add(key, { priority, reason });
    this.queue.done(key);
  }
}

function supersededBy(epoch = 0): SupersededError {
  const what = epoch === 0 ? 'no term has begun' : `the term of epoch ${epoch} has begun`;
  return new SupersededError(`refused: in this queue ${what}`, { epoch });
}
