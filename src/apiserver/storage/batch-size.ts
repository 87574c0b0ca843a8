import { lengthOf } from './log-entry.js';
import type { LogEntry } from './log-entry.js';

/** How long entries are taken to be before one was read. */
const FIRST_GUESS = 64 * 1024;

/** Chooses how many log entries to read for the wanted batch length, judged by the last ones. */
export class BatchSize {
  private usualLength = FIRST_GUESS;

  constructor(
    private readonly maxEntries: number,
    /** Characters. */
    private readonly wantedLength: number,
  ) {}

  get count(): number {
    return Math.min(Math.max(Math.floor(this.wantedLength / this.usualLength), 1), this.maxEntries);
  }

  learn(entries: readonly LogEntry[]): void {
    if (entries.length === 0) return;
    const length = entries.reduce((sum, entry) => sum + lengthOf(entry), 0);
    this.usualLength = Math.max(length / entries.length, 1);
  }
}
