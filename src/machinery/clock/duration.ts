const MS = 1_000_000n;
const SECOND = 1_000n * MS;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

/** Nanoseconds of each unit, the longest first. */
type Units = Readonly<Record<string, bigint>>;

const GO_UNITS: Units = { h: HOUR, m: MINUTE, s: SECOND, ms: MS, us: 1000n, µs: 1000n, μs: 1000n, ns: 1n };
const SETTING_UNITS: Units = { d: DAY, h: HOUR, m: MINUTE, s: SECOND };

const PART = /(\d*)(?:\.(\d*))?([a-zµμ]+)/y;
/** The largest int64, which is what Go keeps a duration in. */
const LONGEST_NANOSECONDS = 2n ** 63n - 1n;
/** A number of more digits is beyond that; of a fraction, further digits are below a nanosecond. */
const MOST_DIGITS = 19;
const LONGEST_SETTING_MS = 366 * 86_400_000;

/**
 * A duration as Go writes it: `1h30m`, `-1.5s`, `500ms`, `0`.
 * Source: ParseDuration of Go's package time.
 * @returns nanoseconds; undefined for any other text, or beyond int64
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  const isSigned = text.startsWith('-') || text.startsWith('+');
  const nanoseconds = parseParts(isSigned ? text.slice(1) : text, GO_UNITS);
  return nanoseconds !== undefined && text.startsWith('-') ? -nanoseconds : nanoseconds;
}

/** {@link parseGoDuration} of one that is not negative, in milliseconds. Surrounding space is ignored. */
export function parseGoDurationMs(text: string): number | undefined {
  const nanoseconds = parseGoDuration(text.trim());
  return nanoseconds === undefined || nanoseconds < 0n ? undefined : Number(nanoseconds) / Number(MS);
}

/** As Go prints it: `800ms`, `10s`, `1m20s`, `5m0s`, `1h0m0s`. */
export function formatGoDuration(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1_000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/**
 * A duration of a setting: `90s`, `5m`, `1h30m`, `2d`.
 * @returns milliseconds; undefined for any other text, or for more than a year, which a timer could not hold
 */
export function parseDuration(text: string): number | undefined {
  const nanoseconds = parseParts(text, SETTING_UNITS);
  if (nanoseconds === undefined) return undefined;
  const ms = Math.round(Number(nanoseconds) / Number(MS));
  return ms <= LONGEST_SETTING_MS ? ms : undefined;
}

/** The same, for people, in whole seconds: `1h30m`. */
export function renderDuration(ms: number): string {
  let left = Math.max(0, Math.ceil(ms / 1000));
  if (left === 0) return '0s';
  let text = '';
  for (const [unit, nanoseconds] of Object.entries(SETTING_UNITS)) {
    const seconds = Number(nanoseconds / SECOND);
    const count = Math.floor(left / seconds);
    if (count > 0) text += `${count}${unit}`;
    left -= count * seconds;
  }
  return text;
}

function parseParts(text: string, units: Units): bigint | undefined {
  let total = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const [whole, digits = '', fraction = '', name = ''] = PART.exec(text) ?? [];
    const unit = Object.hasOwn(units, name) ? units[name] : undefined;
    if (whole === undefined || unit === undefined || digits + fraction === '') return undefined;
    const part = partOf(digits, fraction, unit);
    if (part === undefined || (total += part) > LONGEST_NANOSECONDS) return undefined;
  }
  return text === '' ? undefined : total;
}

function partOf(digits: string, fraction: string, unit: bigint): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  if (significant.length > MOST_DIGITS) return undefined;
  const decimals = fraction.slice(0, MOST_DIGITS - 1);
  return (BigInt(significant + decimals) * unit) / 10n ** BigInt(decimals.length);
}
