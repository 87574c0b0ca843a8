import { setTimeout as pause } from 'node:timers/promises';
import type { ScheduledFault } from './schedule.js';
import { FAULTS } from './faults/index.js';
import type { Probes } from './probes.js';
import type { FaultRecord } from './report.js';
import type { ChaosSet } from './set/chaos-set.js';

/** Faults that hit the same process at once would end each other; of these, one is under way at a time. */
const MOST_AT_ONCE = 2;

export interface FaultsOptions {
  readonly set: ChaosSet;
  readonly probes: Probes;
  readonly patience: number;
  readonly say: (line: string) => void;
  readonly found: (check: string, subject: string, problem: string) => void;
}

/** Makes the faults of one round at their times; resolves once all of them are over and everything is back. */
export async function makeFaults(
  schedule: readonly ScheduledFault[],
  { found, patience, probes, say, set }: FaultsOptions,
): Promise<FaultRecord[]> {
  const startedMs = performance.now();
  const underWay = new Set<Promise<void>>();
  const records: Promise<FaultRecord>[] = [];
  for (const { atMs, dice, kind, strength } of schedule) {
    await pause(Math.max(startedMs + atMs - performance.now(), 0));
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    const began = (target: string): void => {
      say(`${kind}: ${target}`);
      records.push(
        probes.measure(kind).then(
          (recoveredMs) => ({ kind, target, recoveredMs }),
          () => ({ kind, target, recoveredMs: undefined }),
        ),
      );
    };
    const failed = (problem: string): void => found('stop', kind, problem);
    const fault: Promise<void> = FAULTS[kind]({ set, strength, dice, patience, began, failed })
      .catch((error: unknown) => found('back', kind, String(error)))
      .finally(() => underWay.delete(fault));
    underWay.add(fault);
  }
  await Promise.all(underWay);
  return Promise.all(records);
}
