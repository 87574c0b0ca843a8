import type { RolloutRules } from './rollout-rules.js';

/** The largest count in the API's types. */
export const MAX_INT32 = 2 ** 31 - 1;

/** How counts beyond int32 are handled. */
export interface Int32Arithmetic {
  readonly sum: (value: number) => number;
  /** To the nearest whole number, half away from zero. */
  readonly round: (value: number) => number;
}

/**
 * Sums are exact here, regardless of size; written values are clamped, because counts are int32 in the API's types.
 * Kubernetes' sums wrap around instead: 2 replicas and a `maxSurge` of 2147483647 make a ceiling of -2147483647 there,
 * and a rollout that never moves.
 */
export function int32Arithmetic({ surgeCap }: RolloutRules): Int32Arithmetic {
  return surgeCap ? EXACT : WRAPPING;
}

/** Clamped to the range of an API field. */
export function clampToInt32(value: number): number {
  return Math.min(value, MAX_INT32);
}

const EXACT: Int32Arithmetic = { sum: (value) => value, round: roundHalfAway };

const WRAPPING: Int32Arithmetic = {
  sum: (value) => value | 0,
  round: (value) => {
    const rounded = roundHalfAway(value);
    // A value beyond int32 becomes the smallest int32, as on amd64.
    return Number.isFinite(rounded) && Math.abs(rounded) < 2 ** 31 ? rounded : -(2 ** 31);
  },
};

function roundHalfAway(value: number): number {
  return Math.trunc(value < 0 ? value - 0.5 : value + 0.5);
}
