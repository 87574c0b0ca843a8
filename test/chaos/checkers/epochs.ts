import type { JournalLine } from './journal-line.js';
import type { Violation } from './violation.js';

/** An act of a leader that a queue in Redis allowed. Lines come in the order in which they happened there. */
export interface TermLine {
  readonly controller: string;
  /** `lost`: the queue has forgotten its term, and maybe an older one is in its place. */
  readonly what: 'begin' | 'add' | 'lost';
  readonly epoch: number;
  readonly holder: string;
}

/** Their keys wait in the leader's memory and go with it: there is nothing to judge. */
const IN_MEMORY: ReadonlySet<string> = new Set([
  'admission-drift',
  'disruption',
  'endpointslice',
  'experiments',
  'session-drain',
]);

interface Term {
  readonly epoch: number;
  readonly holder: string;
}

/**
 * (b) Of what leaders add, a queue takes nothing under any other term than the one that began last; epochs only grow, and
 * each is one holder's. And every add that a leader takes for done has come through there; no two processes lead in one epoch.
 */
export class EpochsChecker {
  private readonly current = new Map<string, Term>();
  /** Queues that have lost their term, and the epoch that they had: an older term may be there again. */
  private readonly lostIn = new Map<string, number>();
  private readonly leads = new Map<number, number>();
  /** Per controller and epoch: adds that Redis let in, less those that leaders know of. */
  private readonly unclaimed = new Map<string, number>();
  terms = 0;
  adds = 0;
  refused = 0;

  /**
   * @param lines the replicas' own
   * @param terms what Redis noted, read after `lines`
   */
  check(lines: readonly JournalLine[], terms: readonly TermLine[]): Violation[] {
    // A lease of before a loss may give another replica an epoch again; the queues let one of the two add (docs/REDIS.md).
    const isLost = terms.some(({ what }) => what === 'lost');
    if (isLost) this.leads.clear();
    return [
      ...terms.flatMap((line) => this.checkTerm(line)),
      ...lines.filter(({ e }) => !isLost || e !== 'lead').flatMap((line) => this.checkLine(line)),
    ];
  }

  private checkTerm({ controller, epoch, holder, what }: TermLine): Violation[] {
    const current = this.current.get(controller);
    const isSame = current?.epoch === epoch && current.holder === holder;
    const found = (problem: string): Violation[] => [{ check: 'epochs', subject: controller, problem }];
    if (what === 'lost') {
      this.lostIn.set(controller, Math.max(current?.epoch ?? 0, this.lostIn.get(controller) ?? 0));
      this.current.delete(controller);
      return [];
    }
    if (what === 'begin') {
      this.terms += 1;
      this.lostIn.delete(controller);
      if (current && !isSame && epoch <= current.epoch)
        return found(`epoch ${epoch} of ${holder} began after epoch ${current.epoch} of ${current.holder}`);
      this.current.set(controller, { epoch, holder });
      return [];
    }
    this.adds += 1;
    this.claim(controller, epoch, 1);
    // The first add after a loss shows which term came back with the older data.
    if (!current && epoch <= (this.lostIn.get(controller) ?? -1)) {
      this.current.set(controller, { epoch, holder });
      return [];
    }
    return isSame
      ? []
      : found(
          `took an add of ${holder} under epoch ${epoch} in epoch ${current?.epoch} of ${current?.holder}`,
        );
  }

  private checkLine(line: JournalLine): Violation[] {
    const found = (subject: string, problem: string): Violation[] => [{ check: 'epochs', subject, problem }];
    if (line.e === 'lead') {
      // A holder that could not renew in time and finds the lease still in its name has the same epoch again.
      const before = this.leads.get(line.n) ?? line.p;
      this.leads.set(line.n, before);
      return before === line.p ? [] : found('leader', `${before} and ${line.p} led in epoch ${line.n}`);
    }
    if (line.e === 'refused') this.refused += 1;
    if (line.e !== 'enqueued' || IN_MEMORY.has(line.c)) return [];
    return this.claim(line.c, line.n, -1) >= 0
      ? []
      : found(line.c, `${line.k} was added under epoch ${line.n} by a way on which its term was not judged`);
  }

  private claim(controller: string, epoch: number, change: 1 | -1): number {
    const id = `${controller} ${epoch}`;
    const left = (this.unclaimed.get(id) ?? 0) + change;
    this.unclaimed.set(id, left);
    return left;
  }
}
