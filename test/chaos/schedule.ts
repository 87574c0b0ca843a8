import type { FaultKind } from './faults/fault.js';
import { SeededRandom } from './random.js';

/** One fault that will be made. What it hits is decided by `dice` when its time has come. */
export interface ScheduledFault {
  readonly kind: FaultKind;
  /** From the start of the round. */
  readonly atMs: number;
  /** A share (0 … 1) of the longest that this kind lasts. */
  readonly strength: number;
  /** 0 … 1; chooses among the processes that the kind may hit. */
  readonly dice: number;
}

export interface ScheduleOptions {
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  readonly roundMs: number;
  readonly rounds: number;
  /** Least and most between two faults. */
  readonly gapMs: readonly [number, number];
}

/**
 * The faults of each round. Kinds are dealt like cards from a shuffled deck, so that each of them comes about
 * equally often. The same options give the same schedule.
 */
export function createSchedule(options: ScheduleOptions): ScheduledFault[][] {
  const random = new SeededRandom(options.seed);
  const [least, most] = options.gapMs;
  let deck: FaultKind[] = [];
  return Array.from({ length: options.rounds }, () => {
    const faults: ScheduledFault[] = [];
    for (let atMs = random.whole(500, most); atMs < options.roundMs; atMs += random.whole(least, most)) {
      if (deck.length === 0) deck = random.shuffled(options.kinds);
      const kind = deck.pop() as FaultKind;
      faults.push({ kind, atMs, strength: random.next(), dice: random.next() });
    }
    return faults;
  });
}
