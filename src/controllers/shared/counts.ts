import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/**
 * An int-or-percent as a number of `total`.
 * @throws InvalidOptionError naming `field`, for a value that is neither a number nor a percentage
 */
export function scaledValue(
  value: string | number,
  total: number,
  round: (value: number) => number,
  field = 'value',
): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined)
    throw new InvalidOptionError(field, `"${value}" is neither a number nor a percentage`);
  // Integers until the division: 0.07 * 100 would not be 7.
  return round((Number(percent) * total) / 100);
}

/** Counts as span attributes; zero counts are omitted, because an attribute costs the same for any value. */
export function countAttributes(of: Readonly<Record<string, readonly unknown[]>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, { length }] of Object.entries(of)) if (length > 0) counts[name] = length;
  return counts;
}
