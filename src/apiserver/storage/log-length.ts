import { lengthOf } from './log-entry.js';
import type { LogEntry } from './log-entry.js';
import type { Revision } from './storage.js';

interface LogLengthLimits {
  /** How many entries the log keeps: the ones before have left it by themselves. */
  readonly maxEntries: number;
  /** Characters of JSON. */
  readonly maxLength: number;
}

/** Adds up how long the watch log has become since this process follows it. */
export class LogLength {
  private entries: { readonly revision: Revision; readonly length: number }[] = [];
  /** How many of the front of `entries` have been forgotten. */
  private gone = 0;
  private length = 0;

  constructor(private readonly limits: LogLengthLimits) {}

  /** How many entries are remembered. */
  get size(): number {
    return this.entries.length - this.gone;
  }

  /** Up to which revision the log has to be forgotten, so that it is not too long with these; the last one stays. */
  add(entries: readonly LogEntry[]): Revision | undefined {
    const { maxEntries, maxLength } = this.limits;
    for (const entry of entries) {
      const length = lengthOf(entry);
      this.entries.push({ revision: entry.revision, length });
      this.length += length;
      if (this.size > maxEntries) this.dropFirst();
    }
    let forgotten: Revision | undefined;
    while (this.length > maxLength && this.size > 1) forgotten = this.dropFirst();
    if (this.gone > this.entries.length / 2) {
      this.entries = this.entries.slice(this.gone);
      this.gone = 0;
    }
    return forgotten;
  }

  /** The log continues elsewhere. */
  clear(): void {
    this.entries = [];
    this.gone = 0;
    this.length = 0;
  }

  private dropFirst(): Revision {
    const { length, revision } = this.entries[this.gone++]!;
    this.length -= length;
    return revision;
  }
}
