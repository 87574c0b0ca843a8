import { KeyedHeap } from '@rollkeeper/machinery/keyed-heap';
import type { Turn } from './fair-turns.js';
import { FairTurns, compareTurns } from './fair-turns.js';
import type { PendingAdd } from './pending-add.js';
import type { Priority } from './work-queue.js';

/** A key that waits, and its place in line. */
interface Waiting {
  readonly key: string;
  readonly priority: Priority;
  /** Wall clock, epoch milliseconds. */
  readonly sinceMs: number;
  readonly turn: Turn;
}

const keyOf = ({ key }: Waiting): string => key;
const waitsLonger = (one: Waiting, other: Waiting): boolean =>
  one.sinceMs === other.sinceMs ? one.turn.sequence < other.turn.sequence : one.sinceMs < other.sinceMs;

/**
 * The keys of a queue in memory that wait, in the order of their turns. Each operation costs the logarithm of their number.
 */
export class WaitingKeys {
  private readonly turns = new FairTurns();
  private readonly inTurn = new KeyedHeap<Waiting>(
    keyOf,
    (one, other) => compareTurns(one.turn, other.turn) < 0,
  );
  /** The keys of each line, by how long they have waited. */
  private readonly byAge = {
    foreground: new KeyedHeap<Waiting>(keyOf, waitsLonger),
    background: new KeyedHeap<Waiting>(keyOf, waitsLonger),
  };

  get size(): number {
    return this.inTurn.size;
  }

  has(key: string): boolean {
    return this.inTurn.get(key) !== undefined;
  }

  /** The key waits for this run. It gets a new turn if it did not wait, or waited with another priority. */
  put(key: string, { priority, readySinceMs: sinceMs }: Pick<PendingAdd, 'priority' | 'readySinceMs'>): void {
    const before = this.inTurn.get(key);
    const keeps = before?.priority === priority;
    if (keeps && before.sinceMs === sinceMs) return;
    this.set({ key, priority, sinceMs, turn: keeps ? before.turn : this.turns.next(key, priority) });
  }

  /** Removes the key whose turn it is. One in the background that has waited since `agedBeforeMs` joins the foreground. */
  take(agedBeforeMs: number): string | undefined {
    this.age(agedBeforeMs);
    const next = this.inTurn.peek();
    if (!next) return undefined;
    this.turns.begin(next.turn);
    this.delete(next.key);
    return next.key;
  }

  delete(key: string): void {
    const waiting = this.inTurn.delete(key);
    if (waiting) this.byAge[waiting.turn.line].delete(key);
  }

  clear(): void {
    for (const { key } of [...this.inTurn.values()]) this.delete(key);
  }

  /** Since when the oldest has waited, epoch milliseconds. */
  oldestSinceMs(): number | undefined {
    const oldest = [this.byAge.foreground.peek(), this.byAge.background.peek()];
    const since = oldest.flatMap((waiting) => waiting?.sinceMs ?? []);
    return since.length === 0 ? undefined : Math.min(...since);
  }

  /** Nothing waits or runs, so that no namespace is ahead or behind. */
  resetTurns(): void {
    this.turns.reset();
  }

  private set(waiting: Waiting): void {
    this.delete(waiting.key);
    this.inTurn.set(waiting);
    this.byAge[waiting.turn.line].set(waiting);
  }

  private age(beforeMs: number): void {
    const { background } = this.byAge;
    const aged: Waiting[] = [];
    for (let oldest = background.peek(); oldest && oldest.sinceMs <= beforeMs; oldest = background.peek())
      aged.push(background.pop() ?? oldest);
    aged.sort((one, other) => one.turn.sequence - other.turn.sequence);
    for (const waiting of aged) {
      const { sequence } = waiting.turn;
      this.set({ ...waiting, turn: { ...this.turns.next(waiting.key, 'aged'), sequence } });
    }
  }
}
