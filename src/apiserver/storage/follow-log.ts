import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { LogEntry } from './log-entry.js';
import { isAbout, toStorageEvent } from './log-entry.js';
import type { Revision, StorageEvent, StorageWatchOptions } from './storage.js';

/** What a watcher needs of a watch log. */
export interface FollowedLog {
  /** Up to which revision the log is known. */
  readonly last: Revision;
  /**
   * The next entries after a revision, a batch at most; none when there is nothing newer.
   * @throws StorageExpiredError when the entry after `revision` no longer exists
   */
  readAfter(revision: Revision): Promise<readonly LogEntry[]>;
  /** Calls `wake` once, when there may be something new. Returns the unsubscribe. */
  onChange(wake: () => void): () => void;
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
        await changeOrTimeout(log, position, progress.remainingMs(), clock, signal);
    }
  } finally {
    log.close?.();
  }
}

/** Resolves when the log has moved beyond `position`, when the time is up, or when `signal` aborts. */
function changeOrTimeout(
  log: FollowedLog,
  position: Revision,
  timeoutMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    // Nothing is lost between the read that found nothing and here: the position is compared again.
    if (log.last > position || signal.aborted) {
      resolve();
      return;
    }
    let timer: TimerHandle | undefined = undefined;
    const done = (): void => {
      unsubscribe();
      timer?.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const unsubscribe = log.onChange(done);
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
