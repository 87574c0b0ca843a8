import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { densePlanOf } from './plan.js';
import type { SeedOutcome, SeedPool, SeedRun } from './seed-pool.js';
import { simulate } from './simulate.js';

/** The argument that makes a worker of the program. */
export const WORKER = '--worker';

/** Only the messages of errors are reported, and most objects live for one step. */
const V8_OPTIONS = ['--stack-trace-limit=0', '--max-semi-space-size=64'];

/** A run that is handed to a worker. */
interface Handed extends SeedRun {
  readonly troubledMs: number;
}

export interface ManyOptions {
  readonly pool: SeedPool;
  /** How long there are faults in each seed, simulated milliseconds. */
  readonly troubledMs: number;
  /** @default one for each core */
  readonly workers?: number;
  /** Called after each run. @default nothing */
  readonly onRun?: () => void;
}

/** Runs the seeds of a pool in processes of their own until it has no more. Rejects if a process ends before its time. */
export async function runMany({ onRun, pool, troubledMs, workers }: ManyOptions): Promise<void> {
  const count = workers ?? availableParallelism();
  const children = Array.from({ length: count }, () =>
    fork(process.argv[1]!, [WORKER], { execArgv: [...process.execArgv, ...V8_OPTIONS] }),
  );
  const idle = new Map<number, ChildProcess>(children.entries());
  const ends = new AbortController();
  const handOut = (): void => {
    for (const [worker, child] of [...idle]) {
      const run = pool.take(worker, count);
      if (!run) continue;
      idle.delete(worker);
      child.send({ ...run, troubledMs } satisfies Handed);
      child.once('message', (outcome) => {
        idle.set(worker, child);
        pool.report(worker, run, outcome as SeedOutcome);
        onRun?.();
        handOut();
      });
    }
    if (idle.size === count) ends.abort();
  };
  try {
    await new Promise<void>((resolve, reject) => {
      ends.signal.addEventListener('abort', () => resolve(), { once: true });
      for (const child of children)
        child.once('exit', (code) => reject(new Error(`a worker has ended with ${code}`)));
      handOut();
    });
  } finally {
    for (const child of children) child.removeAllListeners('exit').kill();
  }
}

/** Runs what it is handed, one run after the other, until it is killed or its parent has ended. */
export function work(): void {
  process.on('message', (handed) => void runHanded(handed as Handed));
  process.on('disconnect', () => process.exit());
}

async function runHanded({ seed, troubledMs }: Handed): Promise<void> {
  const result = await simulate({ seed, plan: densePlanOf(seed, troubledMs) });
  const { checks, faultCount, faults, simulatedMs, steps, traceHash, violations } = result;
  process.send?.({ checks, faultCount, faults, simulatedMs, steps, traceHash, violations });
}
