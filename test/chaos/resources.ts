import type { Violation } from './checkers/violation.js';
import type { ChaosReplica } from './set/replica.js';
import type { Measurement } from './set/managed-process.js';

/** At rest a process may hold so much more than when it was measured first. */
const MORE_TIMERS = 30;
const MORE_HEAP_BYTES = 40 << 20;

/** (f) At rest, a replica holds no more timers and memory than at its first rest. */
export class Resources {
  private readonly first = new Map<number, Measurement>();
  checks = 0;

  async check(replicas: readonly ChaosReplica[]): Promise<Violation[]> {
    const found: Violation[] = [];
    for (const { process } of replicas) {
      const { pid } = process;
      const now = await process.measure().catch(() => undefined);
      if (!now) continue;
      this.checks += 1;
      const first = this.first.get(pid);
      if (first) found.push(...compare(process.name, first, now));
      else this.first.set(pid, now);
    }
    return found;
  }
}

function compare(subject: string, first: Measurement, now: Measurement): Violation[] {
  const timers = [first, now].map(({ handles }) => handles['Timeout'] ?? 0) as [number, number];
  const problems: string[] = [];
  if (timers[1] > timers[0] + MORE_TIMERS) problems.push(`${timers[1]} timers, ${timers[0]} at first`);
  if (now.heapUsed > first.heapUsed + MORE_HEAP_BYTES)
    problems.push(`${now.heapUsed >> 20} MiB of heap, ${first.heapUsed >> 20} at first`);
  return problems.map((problem) => ({ check: 'resources', subject, problem }));
}
