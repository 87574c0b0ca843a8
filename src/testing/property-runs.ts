import { randomInt } from 'node:crypto';

/** Whether the nightly suite runs, with more cases of everything. */
export const isNightly = process.env['ROLLKEEPER_NIGHTLY'] !== undefined;

/**
 * The seed of property tests: fixed when a change is tested, so that only the change can fail it, and fresh each night.
 * `SEED=N` repeats a run.
 */
export const PROPERTY_SEED = Number(process.env['SEED'] ?? (isNightly ? randomInt(2 ** 31 - 1) : 20_261_121));

/** Number of cases of a property: `RUNS=N`, otherwise few when a change is tested, and many each night. */
export function propertyRuns({ gate, nightly = 500 }: { gate: number; nightly?: number }): {
  seed: number;
  numRuns: number;
} {
  const numRuns = Number(process.env['RUNS'] ?? (isNightly ? nightly : gate));
  return { seed: PROPERTY_SEED, numRuns };
}
