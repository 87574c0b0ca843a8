import type { JournalLine } from './journal-line.js';
import type { Violation } from './violation.js';

/** Between the last look at the signal and the line in the journal; a process may be paused just there. */
const SAME_INSTANT_MS = 1;

/** (b) Once an epoch has begun to lead, nothing is put into a queue under an older one; no two processes lead in one epoch. */
export class EpochsChecker {
  private newest: { epoch: number; pid: number; atMs: number } | undefined;
  terms = 0;
  enqueues = 0;

  /** @param lines in the order of their times */
  check(lines: readonly JournalLine[]): Violation[] {
    return lines.flatMap((line) => this.checkLine(line));
  }

  private checkLine(line: JournalLine): Violation[] {
    const { newest } = this;
    const found = (problem: string): Violation[] => [{ check: 'epochs', subject: 'leader', problem }];
    if (line.e === 'lead') {
      this.terms += 1;
      // A holder that could not renew in time and finds the lease still in its name has the same epoch again.
      const isNewer = !newest || line.n > newest.epoch || (line.n === newest.epoch && line.p === newest.pid);
      if (isNewer) this.newest = { epoch: line.n, pid: line.p, atMs: line.t };
      return isNewer ? [] : found(`epoch ${line.n} began to lead after epoch ${newest.epoch}`);
    }
    if (line.e !== 'enqueue') return [];
    this.enqueues += 1;
    if (!newest || line.n >= newest.epoch || line.t - newest.atMs < SAME_INSTANT_MS) return [];
    const lateMs = Math.round(line.t - newest.atMs);
    return found(
      `${line.c} ${line.k} was enqueued under epoch ${line.n} by process ${line.p}, ${lateMs} ms after epoch ${newest.epoch} began in process ${newest.pid}`,
    );
  }
}
