import type { Clock } from '@rollkeeper/machinery/clock';
import type { RowChanges } from './feed-events.js';

/** How long a row stays that no replica reports, milliseconds: its slot may be moving to another owner. */
const BETWEEN_OWNERS_MS = 3000;

/** The rows of one viewer, from the replicas that own them. While a slot moves, two of them may report a row, or none. */
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

  /** Call when the stream of a replica has ended: its rows stay until another replica reports them, or until they expire. */
  lose(replica: string): void {
    const keys = this.keysOf.get(replica) ?? new Set();
    this.keysOf.delete(replica);
    this.orphan(keys);
  }

  /** The keys of the rows that no replica has reported in time. */
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
