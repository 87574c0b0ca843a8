import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { LogEntry } from './log-entry.js';
import { lengthOf } from './log-entry.js';
import type { Revision } from './storage.js';

export interface WatchRingLimits {
  readonly maxEntries: number;
  /** The longest JSON text, in characters. */
  readonly maxTextLength: number;
  /**
   * Minimum interval between two wake-ups of watchers, which then see all new entries together. 0: they wake at every append.
   */
  readonly wakeEveryMs: number;
}

/**
 * The end of the watch log in memory, shared by all watchers of a process: each of them reads at its own pace by
 * position, so a slow one costs nothing and delays no other.
 *
 * Invariant: each of `entries` names the one before it, and the last of them is `last`.
 */
export class WatchRing {
  private entries: (LogEntry | undefined)[] = [];
  /** How many of the front of `entries` have been dropped; their places are cut off now and then, not one by one. */
  private dropped = 0;
  private textLength = 0;
  private lastRevision: Revision;
  private lastId: string;
  /** By resource: most appends concern none of most watchers. */
  private readonly waiting = new Map<string, Set<() => void>>();
  /**
   * The first revision of which the watchers of a resource have not been woken, by resource: the revision before it.
   */
  private readonly untold = new Map<string, Revision>();
  private broken: Error | undefined;
  private wokenAtMs = Number.NEGATIVE_INFINITY;
  private wakeTimer: TimerHandle | undefined;

  constructor(
    start: { readonly revision: Revision; readonly writeId: string },
    private readonly limits: WatchRingLimits,
    private readonly clock: Clock,
  ) {
    this.lastRevision = start.revision;
    this.lastId = start.writeId;
  }

  /** Up to which revision the log is known. */
  get last(): Revision {
    return this.lastRevision;
  }

  get lastWriteId(): string {
    return this.lastId;
  }

  /** Why this history has ended; its watchers end with it. */
  get failure(): Error | undefined {
    return this.broken;
  }

  get size(): number {
    return this.entries.length - this.dropped;
  }

  /** Whether an entry is the successor of the last one. */
  isNext({ previousRevision, previousWriteId }: LogEntry): boolean {
    return previousRevision === this.lastRevision && previousWriteId === this.lastId;
  }

  append(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (!this.isNext(entry)) {
        throw new Error(`the watch log jumps from ${this.lastRevision} to ${entry.revision}`);
      }
      this.entries.push(entry);
      if (entry.type !== 'opened' && !this.untold.has(entry.key.resource))
        this.untold.set(entry.key.resource, entry.previousRevision);
      this.textLength += lengthOf(entry);
      this.lastRevision = entry.revision;
      this.lastId = entry.writeId;
    }
    while (
      this.size > this.limits.maxEntries ||
      (this.size > 1 && this.textLength > this.limits.maxTextLength)
    ) {
      this.dropFirst();
    }
    this.cutOff();
    this.wakeInTime();
  }

  /**
   * Up to `limit` entries after a revision, none once those before have `maxTextLength` characters; `undefined` when the
   * ring has no entry that follows upon it.
   */
  after(revision: Revision, limit: number, maxTextLength = Infinity): readonly LogEntry[] | undefined {
    if (revision >= this.lastRevision) return [];
    const from = this.firstBehind(revision);
    if (this.entries[from]?.previousRevision !== revision) return undefined;
    const end = Math.min(from + limit, this.entries.length);
    let to = from;
    for (let length = 0; to < end && length < maxTextLength; to++) length += lengthOf(this.entries[to]!);
    return this.entries.slice(from, to) as LogEntry[];
  }

  /** Drops what is at or before `revision`. */
  forget(revision: Revision): void {
    while (this.size > 0 && (this.entries[this.dropped] as LogEntry).revision <= revision) this.dropFirst();
    this.cutOff();
  }

  /** Ends this history: every watcher of it is woken and sees `failure`. */
  fail(error: Error): void {
    this.broken ??= error;
    this.wake(this.waiting.keys());
  }

  /** Calls `wake` once, at the next append of an entry of the resource, or at the failure. Returns the unsubscribe. */
  onChange(resource: string, wake: () => void): () => void {
    let waiting = this.waiting.get(resource);
    if (!waiting) this.waiting.set(resource, (waiting = new Set()));
    waiting.add(wake);
    return () => {
      // A resource may never be seen again: its definition was deleted.
      if (waiting.delete(wake) && waiting.size === 0 && this.waiting.get(resource) === waiting)
        this.waiting.delete(resource);
    };
  }

  /** Up to which revision there is nothing of the resource for a watcher that waits, or that is being woken. */
  quietUntil(resource: string): Revision {
    return this.untold.get(resource) ?? this.lastRevision;
  }

  /** The place at which the entries after a revision begin. Revisions grow, but not by one: halves the range. */
  private firstBehind(revision: Revision): number {
    let from = this.dropped;
    let to = this.entries.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.entries[middle]!.revision > revision) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  private wakeInTime(): void {
    if (this.wakeTimer) return;
    const dueInMs = this.wokenAtMs + this.limits.wakeEveryMs - this.clock.monotonicNow();
    if (dueInMs <= 0) this.wake();
    else this.wakeTimer = this.clock.setTimeout(() => this.wake(), dueInMs);
  }

  private wake(resources: Iterable<string> = this.untold.keys()): void {
    this.wakeTimer?.cancel();
    this.wakeTimer = undefined;
    this.wokenAtMs = this.clock.monotonicNow();
    for (const resource of [...resources]) {
      const woken = this.waiting.get(resource) ?? [];
      this.waiting.delete(resource);
      for (const wake of woken) wake();
    }
    this.untold.clear();
  }

  private dropFirst(): void {
    this.textLength -= lengthOf(this.entries[this.dropped] as LogEntry);
    this.entries[this.dropped++] = undefined;
  }

  /** Linear in what is kept, hence only once as much has been dropped. */
  private cutOff(): void {
    if (this.dropped === 0 || this.dropped < this.size) return;
    this.entries = this.entries.slice(this.dropped);
    this.dropped = 0;
  }
}
