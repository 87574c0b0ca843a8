import type { FoundViolation, SimulationResult } from './simulate.js';

/** One run of one seed. */
export interface SeedRun {
  readonly seed: number;
  /** The second run, which has to be equal to the first. */
  readonly isSecond: boolean;
}

/** The result of one run of a seed, as a worker reports it. */
export type SeedOutcome = Pick<
  SimulationResult,
  'checks' | 'faultCount' | 'faults' | 'simulatedMs' | 'steps' | 'traceHash' | 'violations'
>;

/** A seed that does not hold. */
export interface FailedSeed {
  readonly seed: number;
  readonly problems: readonly Pick<FoundViolation, 'check' | 'problem' | 'subject'>[];
}

export interface SeedPoolOptions {
  readonly first: number;
  /** Seeds are begun until their first runs have made so many faults together. */
  readonly faults: number;
  /** How many seeds are begun at most. @default no limit */
  readonly seeds?: number;
  /** Every seed runs twice, the second time by another worker if there is one. */
  readonly twice: boolean;
}

/** Hands seeds out to workers until enough faults were made, and adds up what they report. A second run adds no faults. */
export class SeedPool {
  readonly failed: FailedSeed[] = [];
  /** The faults of the first runs, by kind. */
  readonly faults = new Map<string, number>();
  readonly totals = { faultCount: 0, checks: 0, steps: 0, simulatedMs: 0, seeds: 0, runs: 0 };
  private next: number;
  private readonly waiting: { readonly seed: number; readonly ranOn: number; readonly traceHash: string }[] =
    [];
  private readonly hashes = new Map<number, string>();

  constructor(private readonly options: SeedPoolOptions) {
    this.next = options.first;
  }

  /** The seeds that were begun, in words. */
  get range(): string {
    const last = this.next - 1;
    return last === this.options.first ? `seed ${last}` : `seeds ${this.options.first} to ${last}`;
  }

  /** The next run of a worker. Undefined: there is none, or none at this moment that another worker has to do. */
  take(worker: number, workers: number): SeedRun | undefined {
    const isMine = ({ ranOn }: { readonly ranOn: number }): boolean => workers === 1 || ranOn !== worker;
    const index = this.waiting.findIndex(isMine);
    if (index >= 0) {
      const [again] = this.waiting.splice(index, 1);
      this.hashes.set(again!.seed, again!.traceHash);
      return { seed: again!.seed, isSecond: true };
    }
    const { faults, first, seeds = Infinity } = this.options;
    if (this.totals.faultCount >= faults || this.next - first >= seeds) return undefined;
    return { seed: this.next++, isSecond: false };
  }

  report(worker: number, { isSecond, seed }: SeedRun, outcome: SeedOutcome): void {
    this.totals.runs += 1;
    if (isSecond) return this.compare(seed, outcome);
    const { checks, faultCount, faults, simulatedMs, steps, traceHash, violations } = outcome;
    const { totals } = this;
    totals.seeds += 1;
    totals.faultCount += faultCount;
    totals.checks += checks;
    totals.steps += steps;
    totals.simulatedMs += simulatedMs;
    for (const [kind, count] of Object.entries(faults))
      this.faults.set(kind, (this.faults.get(kind) ?? 0) + count);
    if (violations.length > 0) this.failed.push({ seed, problems: violations });
    if (this.options.twice) this.waiting.push({ seed, ranOn: worker, traceHash });
  }

  private compare(seed: number, { traceHash }: SeedOutcome): void {
    const before = this.hashes.get(seed);
    this.hashes.delete(seed);
    if (before === traceHash) return;
    const problem = `the trace is ${before} the first time, and ${traceHash} the second`;
    this.failed.push({ seed, problems: [{ check: 'the same again', subject: 'the trace', problem }] });
  }
}
