import type { Measured } from './check-verdict.js';

/**
 * Two-sided quantiles of the normal distribution, by the confidence that is asked for.
 * Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.1.
 */
const QUANTILES = { '90%': 1.6449, '95%': 1.96, '98%': 2.3263, '99%': 2.5758, '99.9%': 3.2905 } as const;

export type Confidence = keyof typeof QUANTILES;
export const CONFIDENCES = Object.keys(QUANTILES) as readonly Confidence[] as [Confidence, ...Confidence[]];

/** With fewer of each, no difference is certain at the highest confidence. */
export const LEAST_SAMPLES = 8;
/** All pairs of two samples are looked at. */
export const MOST_SAMPLES = 200;

/** When the new version is worse than the stable one. */
export interface ComparisonRules {
  /** The direction in which the metric is worse. */
  readonly worse: 'increase' | 'decrease' | 'either';
  /** How much worse it may be, as a part of the stable version's median. */
  readonly tolerance: number;
  /** How certain a difference has to be. */
  readonly confidence: Confidence;
  /** The time before now whose samples count, milliseconds. */
  readonly windowMs: number;
  /** With fewer samples of either version there is no verdict. */
  readonly least: number;
}

/** How far the samples of one are above those of the other. */
export interface Shift {
  readonly estimate: number;
  /** The bounds within which it lies, with the confidence that was asked for. */
  readonly low: number;
  readonly high: number;
}

/**
 * The samples of the new version beside those of the stable one. It is worse if it is further from the other than
 * what is tolerated, also at the nearer end of the interval of confidence: a difference that chance explains is none.
 */
export function compareSamples(
  canary: readonly number[],
  stable: readonly number[],
  rules: ComparisonRules,
): Measured {
  const [ours, theirs] = [canary, stable].map((samples) =>
    samples.filter(Number.isFinite).slice(-MOST_SAMPLES),
  ) as [number[], number[]];
  if (Math.min(ours.length, theirs.length) < rules.least)
    return {
      verdict: 'unknown',
      message: `not enough data: ${ours.length} samples of the new version and ${theirs.length} of the stable one, of at least ${rules.least}`,
    };
  const base = medianOf(theirs);
  const tolerated = rules.tolerance * Math.abs(base);
  const shift = shiftBetween(ours, theirs, rules.confidence);
  const isAbove = rules.worse !== 'decrease' && shift.low > tolerated;
  const isBelow = rules.worse !== 'increase' && shift.high < -tolerated;
  const value = rounded(medianOf(ours));
  if (!isAbove && !isBelow) return { verdict: 'passed', value };
  const certain = rounded(Math.abs(isAbove ? shift.low : shift.high));
  return {
    verdict: 'failed',
    value,
    message: `the median is ${value}, ${rounded(base)} in the stable version: ${isAbove ? 'above' : 'below'} it by at least ${certain} with a confidence of ${rules.confidence}`,
  };
}

/**
 * The shift between two samples by Hodges and Lehmann: the median of all differences, with the interval that belongs
 * to the test of Mann and Whitney, by its normal approximation.
 * Source: Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 4.1 to 4.3.
 */
export function shiftBetween(
  ours: readonly number[],
  theirs: readonly number[],
  confidence: Confidence,
): Shift {
  const differences = ours.flatMap((one) => theirs.map((other) => one - other)).sort((a, b) => a - b);
  const [n, m] = [ours.length, theirs.length];
  const spread = QUANTILES[confidence] * Math.sqrt((n * m * (n + m + 1)) / 12);
  const cut = Math.max(Math.floor((n * m) / 2 - spread), 0);
  return {
    estimate: medianOf(differences),
    low: differences[cut] ?? NaN,
    high: differences.at(-1 - cut) ?? NaN,
  };
}

/** The numbers need no order; of none it is NaN. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
  return (lower + upper) / 2;
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
