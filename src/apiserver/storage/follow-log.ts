import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { LogEntry } from './log-entry.js';
import { isAbout, toStorageEvent } from './log-entry.js';
import type { Revision, StorageEvent, StorageWatchOptions } from './storage.js';

/** The part of a watch log that a watcher needs. */
export interface FollowedLog {
  /** Up to which revision the log is known. */
  readonly last: Revision;
  /**
   * The next entries after a revision, a batch at most; none when there is nothing newer.
   * @throws StorageExpiredError when the entry after `revision` no longer exists
   */
  readAfter(revision: Revision): Promise<readonly LogEntry[]>;
  /** Calls `wake` once, when there may be something new of the resource. Returns the unsubscribe. */
  onChange(resource: string, wake: () => void): () => void;
  /** Up to which revision there is nothing of the resource for a watcher that waits since `position`, or is being woken. */
  quietUntil(resource: string, position: Revision): Revision;
  /** The watcher has ended. */
  close?(): void;
}

/**
 * One watch, as a position in the log that only this watcher moves. Ends when `signal` aborts; rejects with what
 * `readAfter` rejects with.
 */
export async function* followLog(
  log: FollowedLog,
  options: StorageWatchOptions,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly StorageEvent[], void, undefined> {
  let position = options.after;
  const progress = new ProgressTimer(clock, options.progressIntervalMs);
  try {
    while (!signal.aborted) {
      const entries = await log.readAfter(position);
      if (isAborted(signal)) return;
      const events: StorageEvent[] = [];
      for (const entry of entries) if (isAbout(entry, options)) events.push(toStorageEvent(entry));
      position = entries.at(-1)?.revision ?? position;
      if (progress.isDue()) events.push({ type: 'progress', revision: progress.told(position) });
      if (events.length > 0) yield events;
      else if (entries.length === 0)
        position = await changeOrTimeout({ log, position, clock, signal }, options, progress.remainingMs());
    }
  } finally {
    log.close?.();
  }
}

interface Follower {
  readonly log: FollowedLog;
  readonly position: Revision;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the log may have something of the resource behind `position`, when the time is up, or when `signal` aborts; with the
 * position up to which there is nothing of it.
 */
function changeOrTimeout(
  { clock, log, position, signal }: Follower,
  { resource }: Pick<StorageWatchOptions, 'resource'>,
  timeoutMs: number | undefined,
): Promise<Revision> {
  return new Promise((resolve) => {
    // Nothing is lost between the read that found nothing and here: the position is compared again.
    if (log.last > position || signal.aborted) {
      resolve(position);
      return;
    }
    let timer: TimerHandle | undefined = undefined;
    const done = (): void => {
      unsubscribe();
      timer?.cancel();
      signal.removeEventListener('abort', done);
      resolve(Math.max(position, log.quietUntil(resource, position)));
    };
    const unsubscribe = log.onChange(resource, done);
    signal.addEventListener('abort', done, { once: true });
    if (timeoutMs !== undefined) timer = clock.setTimeout(done, timeoutMs);
  });
}

class ProgressTimer {
  private dueMs: number | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number | undefined,
  ) {
    this.restart();
  }

  isDue(): boolean {
    return this.dueMs !== undefined && this.clock.monotonicNow() >= this.dueMs;
  }

  remainingMs(): number | undefined {
    return this.dueMs === undefined ? undefined : Math.max(this.dueMs - this.clock.monotonicNow(), 0);
  }

  told(revision: Revision): Revision {
    this.restart();
    return revision;
  }

  private restart(): void {
    // Never due at once: a watcher that reports progress without a pause would block all others.
    if (this.intervalMs !== undefined) this.dueMs = this.clock.monotonicNow() + Math.max(this.intervalMs, 1);
  }
}
