import type { Clock } from '@rollkeeper/machinery/clock';
import type { RowChanges } from './feed-events.js';

/** A row that no replica tells of is shown for so long, milliseconds: its slot is on its way to another owner. */
const BETWEEN_OWNERS_MS = 3000;

/** The rows of one viewer, from the replicas that own them. While a slot moves, two of them may tell of a row, or none. */
export class MergedRows {
  private readonly keysOf = new Map<string, Set<string>>();
  /** The rows without a replica, and when they go, by the monotonic clock. */
  private readonly orphans = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonicNow'>) {}

  /** The changes for the viewer out of those of a replica. */
  take(replica: string, { changed, gone, left = [] }: RowChanges): RowChanges {
    const keys = this.keysOf.get(replica) ?? new Set();
    this.keysOf.set(replica, keys);
    for (const { key } of changed) {
      keys.add(key);
      this.orphans.delete(key);
    }
    for (const key of [...gone, ...left]) keys.delete(key);
    this.orphan(left);
    return { changed, gone: gone.filter((key) => !this.isTold(key)) };
  }

  /** A replica tells no more: what it told is shown until another one tells of it, or for a while. */
  lose(replica: string): void {
    const keys = this.keysOf.get(replica) ?? new Set();
    this.keysOf.delete(replica);
    this.orphan(keys);
  }

  /** The keys of the rows that no replica has told of in time. */
  expired(): readonly string[] {
    const nowMs = this.clock.monotonicNow();
    const keys = [...this.orphans].flatMap(([key, atMs]) => (atMs <= nowMs ? [key] : []));
    for (const key of keys) this.orphans.delete(key);
    return keys;
  }

  private orphan(keys: Iterable<string>): void {
    const atMs = this.clock.monotonicNow() + BETWEEN_OWNERS_MS;
    for (const key of keys) if (!this.isTold(key)) this.orphans.set(key, atMs);
  }

  private isTold(key: string): boolean {
    return [...this.keysOf.values()].some((keys) => keys.has(key));
  }
}
