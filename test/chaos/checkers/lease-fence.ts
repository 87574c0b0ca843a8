import type { JournalLine } from './journal-line.js';
import type { Violation } from './violation.js';

/** Between the last look at the lease and the line in the journal; a process may be paused just there. */
const SAME_INSTANT_MS = 1;

/**
 * (b) Without a Redis, the Lease alone keeps leaders apart: once a process leads in an epoch, no process begins a write, of any
 * key, that it decided in an older one.
 */
export class LeaseFenceChecker {
  private newest: { epoch: number; pid: number; atMs: number } | undefined;
  terms = 0;
  writes = 0;

  /** @param lines in the order of their times */
  check(lines: readonly JournalLine[]): Violation[] {
    return lines.flatMap((line) => this.checkLine(line));
  }

  private checkLine(line: JournalLine): Violation[] {
    const { newest } = this;
    if (line.e === 'lead') {
      this.terms += 1;
      if (!newest || line.n > newest.epoch) this.newest = { epoch: line.n, pid: line.p, atMs: line.t };
      return [];
    }
    if (line.e !== 'write' || line.g === undefined) return [];
    this.writes += 1;
    if (!newest || line.g >= newest.epoch || line.t - newest.atMs < SAME_INSTANT_MS) return [];
    const lateMs = Math.round(line.t - newest.atMs);
    const problem = `${line.m} ${line.u} in epoch ${line.g} by process ${line.p}, ${lateMs} ms after process ${newest.pid} began to lead in epoch ${newest.epoch}`;
    return [{ check: 'lease fence', subject: `${line.c} ${line.k}`, problem }];
  }
}
