import type { Logger } from '../../../src/machinery/logging/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { SimulateOptions, SimulationResult } from '../simulate.js';

/** How long there are faults and users, simulated milliseconds. */
const TROUBLED_MS = 25_000;
/** The leader's safety net against lost keys says this, and has to say it never: `UnqueuedSweep`. */
const SWEPT = 'a key had to be queued and was not; it is added';

type Simulate = (options: SimulateOptions) => Promise<SimulationResult>;

/** The first problem that a run of the seed shows; undefined if it shows none. */
export async function problemOf(simulate: Simulate, seed: number): Promise<string | undefined> {
  let swept: string | undefined;
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields) => {
      if (message === SWEPT) swept ??= `${message}: ${String(fields?.['key'])}`;
    },
    child: () => logger,
  };
  const { violations } = await simulate({ seed, troubledMs: TROUBLED_MS, logger: () => logger });
  const [first] = violations;
  return first ? `${first.check}: ${first.subject}: ${first.problem}` : swept;
}
