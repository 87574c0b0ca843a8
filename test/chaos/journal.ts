import { closeSync, existsSync, openSync, readSync, fstatSync } from 'node:fs';
import type { JournalLine } from './checkers/journal-line.js';

/** The replicas' journals, read on from where they were read last. */
export class Journal {
  private readonly offsets = new Map<string, number>();

  constructor(private readonly files: readonly string[]) {}

  /** New lines of all replicas, in the order of their times. */
  take(): JournalLine[] {
    return this.files.flatMap((file) => this.read(file)).sort((a, b) => a.t - b.t);
  }

  private read(file: string): JournalLine[] {
    if (!existsSync(file)) return [];
    const fd = openSync(file, 'r');
    try {
      const from = this.offsets.get(file) ?? 0;
      const bytes = Buffer.alloc(fstatSync(fd).size - from);
      readSync(fd, bytes, 0, bytes.length, from);
      const end = bytes.lastIndexOf(10) + 1;
      this.offsets.set(file, from + end);
      return bytes
        .subarray(0, end)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JournalLine);
    } finally {
      closeSync(fd);
    }
  }
}
