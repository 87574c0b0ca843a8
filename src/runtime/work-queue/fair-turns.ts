import type { Priority } from './work-queue.js';

/** `aged` is a key of low priority that has waited for `agingMs`. */
type TurnClass = Priority | 'aged';

/** How far behind its namespace's start a run is placed: eight user changes go before one key of anything else. */
const PLACE: Readonly<Record<TurnClass, number>> = { high: 1, normal: 8, low: 8, aged: 1 };
/** How far a run moves its namespace back. */
const COST: Readonly<Record<TurnClass, number>> = { high: 1, normal: 8, low: 8, aged: 8 };

/** Fewer namespaces are not worth a look. */
const MIN_PRUNED = 64;

/** A place in line. */
export interface Turn {
  /** Keys in the background run only when no other key waits. */
  readonly line: 'foreground' | 'background';
  /** When the namespace's share allows for the run, in the queue's virtual time. */
  readonly start: number;
  readonly place: number;
  /** The order of keys with the same place. */
  readonly sequence: number;
}

/** The namespace of a key; keys of cluster-scoped objects share one. */
export function shareOf(key: string): string {
  return key.slice(0, Math.max(key.indexOf('/'), 0));
}

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) of keys by namespace: however many keys of one namespace wait,
 * a key of another waits for no more than that namespace's share. Within a namespace user changes go first, then the
 * others in the order of their adds. `lua/includes/fair-turns.lua` does the same. Its scores hold 32 bits, so it moves
 * them back from time to time; the numbers here are exact for 10^15 runs.
 */
export class FairTurns {
  /** By line, the start of the latest run taken: a namespace with nothing waiting joins here and has saved up nothing. */
  private readonly virtualTime = { foreground: 0, background: 0 };
  private sequence = 0;
  /** The start of the next run of each namespace and priority that is ahead of virtual time. */
  private readonly starts = new Map<string, number>();
  /** When to drop those that are no longer ahead. */
  private pruneAt = MIN_PRUNED;

  /** The turn of a key that begins to wait. */
  next(key: string, priority: TurnClass): Turn {
    const line = priority === 'low' ? 'background' : 'foreground';
    const share = `${priority}:${shareOf(key)}`;
    const start = Math.max(this.virtualTime[line], this.starts.get(share) ?? 0);
    this.starts.set(share, start + COST[priority]);
    if (this.starts.size >= this.pruneAt) this.prune();
    return { line, start, place: start + PLACE[priority], sequence: ++this.sequence };
  }

  /** A run with this turn starts. */
  begin({ line, start }: Turn): void {
    this.virtualTime[line] = Math.max(this.virtualTime[line], start);
  }

  /** Nothing waits any more, so that no namespace is ahead or behind. */
  reset(): void {
    this.virtualTime.foreground = 0;
    this.virtualTime.background = 0;
    this.starts.clear();
    this.pruneAt = MIN_PRUNED;
  }

  /** How many namespaces it remembers, each by priority. */
  get remembered(): number {
    return this.starts.size;
  }

  /** A start that virtual time has passed says nothing, and the namespace may never be seen again. */
  private prune(): void {
    for (const [share, start] of this.starts) {
      const line = share.startsWith('low:') ? 'background' : 'foreground';
      if (start <= this.virtualTime[line]) this.starts.delete(share);
    }
    this.pruneAt = Math.max(MIN_PRUNED, 2 * this.starts.size);
  }
}

/** Negative if `one` goes first. */
export function compareTurns(one: Turn, other: Turn): number {
  if (one.line !== other.line) return one.line === 'foreground' ? -1 : 1;
  return one.place - other.place || one.sequence - other.sequence;
}
