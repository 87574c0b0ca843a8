import type { JournalLine } from './journal-line.js';
import type { Violation } from './violation.js';

/** Between the last look at the lease and the line in the journal; a process may be paused just there. */
const SAME_INSTANT_MS = 1;

/**
 * Matches the ledger that leaders leave to each other: the API server refuses a late write of it, by the version that
 * it replaces.
 */
const OF_LEDGER = /\/configmaps\/[\w-]+-intents-\d+(\?|$)/;

export const isOfLedger = (line: JournalLine): boolean =>
  (line.e === 'write' || line.e === 'wrote') && OF_LEDGER.test(line.u);

interface Term {
  readonly epoch: number;
  readonly pid: number;
  readonly atMs: number;
  /** When its first key began: what the former leader left is taken over. */
  worksSinceMs?: number;
}

/**
 * (b) Without a Redis, the Lease alone keeps leaders apart: once a process leads in an epoch, no process begins a write, of any
 * key, that it decided in an older one. Of what leaders leave to each other, none is taken by the API server once the next one works.
 */
export class LeaseFenceChecker {
  private newest: Term | undefined;
  /** When writes of ledgers that have no answer yet were sent. */
  private readonly sent = new Map<string, number>();
  terms = 0;
  writes = 0;

  /** @param lines in the order of their times */
  check(lines: readonly JournalLine[]): Violation[] {
    return lines.flatMap((line) => this.checkLine(line));
  }

  private checkLine(line: JournalLine): Violation[] {
    const { newest } = this;
    switch (line.e) {
      case 'lead':
        this.terms += 1;
        if (!newest || line.n > newest.epoch) this.newest = { epoch: line.n, pid: line.p, atMs: line.t };
        return [];
      case 'begin':
        if (newest && line.g === newest.epoch) newest.worksSinceMs ??= line.t;
        return [];
      case 'write':
        this.writes += 1;
        if (!isOfLedger(line)) return this.judge(line, line.t, newest?.atMs);
        this.sent.set(idOf(line), line.t);
        return [];
      case 'wrote': {
        const sentMs = this.sent.get(idOf(line));
        this.sent.delete(idOf(line));
        if (sentMs === undefined || (line.s ?? 500) >= 300) return [];
        return this.judge(line, sentMs, newest?.worksSinceMs);
      }
      default:
        return [];
    }
  }

  private judge(
    line: JournalLine & { readonly e: 'write' | 'wrote' },
    sentMs: number,
    fromMs: number | undefined,
  ): Violation[] {
    const { newest } = this;
    if (!newest || line.g === undefined || line.g >= newest.epoch) return [];
    if (fromMs === undefined || sentMs - fromMs < SAME_INSTANT_MS) return [];
    const lateMs = Math.round(sentMs - fromMs);
    const problem = `${line.m} ${line.u} in epoch ${line.g} by process ${line.p}, ${lateMs} ms after process ${newest.pid} took over in epoch ${newest.epoch}`;
    return [{ check: 'lease fence', subject: `${line.c} ${line.k}`, problem }];
  }
}

const idOf = (line: JournalLine & { readonly e: 'write' | 'wrote' }): string =>
  `${line.p} ${line.c} ${line.k} ${line.n} ${line.u}`;
