import type { CollectionTag, ScalarTag, Tags } from 'yaml';

/**
 * An integer of the API. One that a double holds exactly is a `number`; any other is a `bigint`. So each integer has
 * one form and `===` works. `<` and the like accept both; arithmetic does not: use {@link toDouble} first if an
 * approximation will do.
 */
export type Int64 = number | bigint;

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** The canonical form of this integer. */
export function exactInteger(value: bigint): Int64 {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

/** A number that was read, as an int64; `undefined` if it is none. */
export function toInt64(value: unknown): Int64 | undefined {
  if (typeof value === 'bigint') return inRange(value);
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  return Number.isSafeInteger(value) ? value : inRange(BigInt(value));
}

/** The nearest double: for durations and the like, where the difference does not matter. */
export function toDouble(value: Int64): number {
  return Number(value);
}

function inRange(value: bigint): Int64 | undefined {
  return value >= MIN && value <= MAX ? exactInteger(value) : undefined;
}

/** Like Go's `strconv.ParseInt(text, 10, 64)`: `undefined` if that fails, also for what exceeds int64. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  // No int64 has more digits, and parsing a million of them is slow.
  const digits = text.replace(/^[+-]?0*(?=\d)/, '');
  if (digits.length > 19) return undefined;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= MIN && value <= MAX ? value : undefined;
}

/**
 * `customTags` for the `yaml` package: integers of every base are read as {@link parseJson} does. Writing needs no
 * tags.
 */
export function exactIntegerTags(tags: Tags): Tags {
  return tags.map((tag) => (typeof tag !== 'string' && isInteger(tag) ? exactly(tag) : tag));
}

function isInteger(tag: ScalarTag | CollectionTag): tag is ScalarTag {
  return tag.tag === 'tag:yaml.org,2002:int';
}

function exactly(tag: ScalarTag): ScalarTag {
  return {
    ...tag,
    resolve(text, onError, options) {
      const value = tag.resolve(text, onError, { ...options, intAsBigInt: true });
      return typeof value === 'bigint' ? exactInteger(value) : value;
    },
  };
}
