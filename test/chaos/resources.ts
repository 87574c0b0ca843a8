import { waitFor } from '../../src/testing/wait-for.js';
import type { Violation } from './checkers/violation.js';
import type { ManagedProcess, Measurement } from './set/managed-process.js';
import type { ChaosReplica } from './set/replica.js';

/** At rest a process may hold so much more than when it was measured first. */
const MORE_TIMERS = 30;
const MORE_HEAP_BYTES = 40 << 20;

/**
 * A process at rest may hold something back for a moment, such as the leader the echoes of the last writes: a timer
 * that is gone within this time, milliseconds, has not leaked.
 */
const LETS_GO_WITHIN_MS = 3000;

/**
 * (f) At rest, a replica holds no more timers and memory than at its first rest in the same role. The leader follows every kind that the server
 * has, for the garbage collector, and a replica follows the objects of its slots. Each of these watches has a timer.
 */
export class Resources {
  private readonly first = new Map<string, Measurement>();
  checks = 0;

  async check(replicas: readonly ChaosReplica[]): Promise<Violation[]> {
    const found: Violation[] = [];
    for (const replica of replicas) found.push(...(await this.checkOne(replica)));
    return found;
  }

  private async checkOne(replica: ChaosReplica): Promise<Violation[]> {
    const { process } = replica;
    const { name, pid } = process;
    const role = `${pid} ${await replica.role()}`;
    const now = await process.measure().catch(() => undefined);
    if (!now) return [];
    this.checks += 1;
    const first = this.first.get(role);
    if (!first) {
      this.first.set(role, await settled(process, now));
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

/** So many looks in a row must find the same: on a busy machine, a new leader does not open its watches at once. */
const SAME_LOOKS = 6;

/** A process that has just begun to lead is still opening its watches. */
async function settled(process: ManagedProcess, start: Measurement): Promise<Measurement> {
  let last = start;
  let looks = 0;
  const isSame = async (): Promise<boolean> => {
    const next = await process.measure().catch(() => last);
    looks = Math.abs(timersOf(next) - timersOf(last)) < 5 ? looks + 1 : 0;
    last = next;
    return looks >= SAME_LOOKS;
  };
  await waitFor(isSame, { timeoutMs: 15_000, intervalMs: 500, what: 'watches' }).catch(() => undefined);
  return last;
}

const timersOf = ({ handles }: Measurement): number => handles['Timeout'] ?? 0;

function compare(subject: string, first: Measurement, now: Measurement): Violation[] {
  const timers = [timersOf(first), timersOf(now)] as const;
  const problems: string[] = [];
  if (timers[1] > timers[0] + MORE_TIMERS) problems.push(`${timers[1]} timers, ${timers[0]} at first`);
  if (now.heapUsed > first.heapUsed + MORE_HEAP_BYTES)
    problems.push(`${now.heapUsed >> 20} MiB of heap, ${first.heapUsed >> 20} at first`);
  return problems.map((problem) => ({ check: 'resources', subject, problem }));
}
