import type { CheckRun } from './check-results.js';

/** The last measurement of a check, for histories. */
export interface LastMeasured {
  readonly verdict: 'passed' | 'failed' | 'unknown' | 'not measured';
  readonly measurements: number;
  /** The value, if it is a number. */
  readonly value?: number;
  /** Why it failed or is unknown, for people. */
  readonly why?: string;
}

/** @param run undefined: it was never measured */
export function lastMeasured(run: CheckRun | undefined): LastMeasured {
  const last = run?.measurements.at(-1);
  if (!run || !last) return { verdict: 'not measured', measurements: run?.taken ?? 0 };
  return {
    verdict: run.state === 'failed' ? 'failed' : last.verdict,
    measurements: run.taken,
    ...(last.value !== undefined && { value: last.value }),
    ...(last.message !== undefined && { why: last.message }),
  };
}
