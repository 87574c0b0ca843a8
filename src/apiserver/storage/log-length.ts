import { lengthOf } from './log-entry.js';
import type { LogEntry } from './log-entry.js';
import type { Revision } from './storage.js';

/** Adds up how long the watch log has become since this process follows it. */
export class LogLength {
  private entries: { readonly revision: Revision; readonly length: number }[] = [];
  /** How many of the front of `entries` have been forgotten. */
  private gone = 0;
  private length = 0;

  /** @param maxLength characters of JSON */
  constructor(private readonly maxLength: number) {}

  /** Up to which revision the log has to be forgotten, so that it is not too long with these; the last one stays. */
  add(entries: readonly LogEntry[]): Revision | undefined {
    for (const entry of entries) {
      const length = lengthOf(entry);
      this.entries.push({ revision: entry.revision, length });
      this.length += length;
    }
    let forgotten: Revision | undefined;
    while (this.length > this.maxLength && this.gone < this.entries.length - 1) {
      const { length, revision } = this.entries[this.gone++]!;
      this.length -= length;
      forgotten = revision;
    }
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
}
