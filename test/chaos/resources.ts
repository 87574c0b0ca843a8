import { waitFor } from '../../src/testing/wait-for.js';
import type { Violation } from './checkers/violation.js';
import type { ManagedProcess, Measurement } from './set/managed-process.js';
import type { ChaosReplica } from './set/replica.js';

/** At rest a process may hold so much more than when it was measured first. */
const MORE_TIMERS = 30;
const MORE_HEAP_BYTES = 40 << 20;

/**
 * What is at rest may hold something back for a moment, such as the leader the echoes of the last writes: a timer that is
 * gone within this long, milliseconds, is none that leaked.
 */
const LETS_GO_WITHIN_MS = 3000;

/** (f) At rest, a replica holds no more timers and memory than at its first rest. */
export class Resources {
  private readonly first = new Map<number, Measurement>();
  checks = 0;

  async check(replicas: readonly ChaosReplica[]): Promise<Violation[]> {
    const found: Violation[] = [];
    for (const { process } of replicas) found.push(...(await this.checkOne(process)));
    return found;
  }

  private async checkOne(process: ManagedProcess): Promise<Violation[]> {
    const { name, pid } = process;
    const now = await process.measure().catch(() => undefined);
    if (!now) return [];
    this.checks += 1;
    const first = this.first.get(pid);
    if (!first) {
      this.first.set(pid, now);
      return [];
    }
    let found = compare(name, first, now);
    const look = async (): Promise<boolean> => {
      const again = await process.measure().catch(() => undefined);
      found = again ? compare(name, first, again) : [];
      return found.length === 0;
    };
    if (found.length > 0)
      await waitFor(look, { timeoutMs: LETS_GO_WITHIN_MS, intervalMs: 250, what: 'resources' }).catch(
        () => undefined,
      );
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
