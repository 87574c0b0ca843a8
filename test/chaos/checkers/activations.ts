import type { JournalLine } from './journal-line.js';
import type { Violation } from './violation.js';

/** Between the last look at the signal and the line in the journal; a process may be paused just there. */
const SAME_INSTANT_MS = 1;

/**
 * (a) Never two activations of a key with valid locks: once an activation has begun, none with an older token of the
 * same key begins a write. (That the older one has not ended yet, in a paused process for example, is no harm.)
 */
export class ActivationsChecker {
  private readonly newest = new Map<string, { token: number; pid: number; atMs: number }>();
  activations = 0;
  writes = 0;

  /** @param lines in the order of their times */
  check(lines: readonly JournalLine[]): Violation[] {
    return lines.flatMap((line) => this.checkLine(line));
  }

  private checkLine(line: JournalLine): Violation[] {
    if (line.e !== 'begin' && line.e !== 'write') return [];
    const actor = `${line.c} ${line.k}`;
    const newest = this.newest.get(actor);
    const found = (problem: string): Violation[] => [{ check: 'activations', subject: actor, problem }];
    if (line.e === 'write') {
      this.writes += 1;
      if (!newest || line.n >= newest.token || line.t - newest.atMs < SAME_INSTANT_MS) return [];
      const lateMs = Math.round(line.t - newest.atMs);
      return found(
        `${line.m} ${line.u} by process ${line.p} ${lateMs} ms after process ${newest.pid} took over`,
      );
    }
    this.activations += 1;
    if (newest && line.n === newest.token) return found(`token ${line.n} was given twice`);
    if (!newest || line.n > newest.token)
      this.newest.set(actor, { token: line.n, pid: line.p, atMs: line.t });
    return [];
  }
}
