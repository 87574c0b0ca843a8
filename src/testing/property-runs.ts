import { randomInt } from 'node:crypto';

/** Whether the nightly suite runs, which takes more of everything. */
export const isNightly = process.env['ROLLKEEPER_NIGHTLY'] !== undefined;

/**
 * What properties are tried with: the same each time where a change is judged, so that it fails for its own fault alone, and
 * another each night. `SEED=N` tries those of a run again.
 */
export const PROPERTY_SEED = Number(process.env['SEED'] ?? (isNightly ? randomInt(2 ** 31 - 1) : 20_261_121));

/** How many cases of a property are tried: `RUNS=N`, else few where a change is judged, and many each night. */
export function propertyRuns({ gate, nightly = 500 }: { gate: number; nightly?: number }): {
  seed: number;
  numRuns: number;
} {
  const numRuns = Number(process.env['RUNS'] ?? (isNightly ? nightly : gate));
  return { seed: PROPERTY_SEED, numRuns };
}
