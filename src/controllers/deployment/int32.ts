/**
 * Counts are int32 in the API's types, and Kubernetes' arithmetic wraps around like them. It makes a difference
 * only after a division by zero (see RolloutRules).
 */
export function toInt32(value: number): number {
  return value | 0;
}

/** To the nearest, half away from zero; what no int32 can hold becomes the smallest, as amd64 converts it. */
export function roundToInt32(value: number): number {
  const rounded = Math.trunc(value < 0 ? value - 0.5 : value + 0.5);
  return Number.isFinite(rounded) && Math.abs(rounded) < 2 ** 31 ? rounded : -(2 ** 31);
}
