const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n, nano: 1n,
  us: 1_000n, µs: 1_000n, μs: 1_000n, micro: 1_000n,
  ms: 1_000_000n, milli: 1_000_000n,
  s: 1_000_000_000n, sec: 1_000_000_000n, second: 1_000_000_000n,
  m: 60_000_000_000n, min: 60_000_000_000n, minute: 60_000_000_000n,
  h: 3_600_000_000_000n, hr: 3_600_000_000_000n, hour: 3_600_000_000_000n,
  d: 86_400_000_000_000n, day: 86_400_000_000_000n,
  w: 604_800_000_000_000n, week: 604_800_000_000_000n, wk: 604_800_000_000_000n,
}; // prettier-ignore
const PART = /^(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/;
const WORDED = /^(\d+)\s*([a-zµμ]+?)s?$/;

/**
 * A duration as fields of the format have it: `1h30m`, `5 days`.
 * Source: ParseDuration in kube-openapi/pkg/validation/strfmt.
 * @returns nanoseconds; undefined when it is none
 */
export function parseDuration(text: string): bigint | undefined {
  if (text === '0') return 0n;
  return parseParts(text) ?? parseWorded(text);
}

function parseParts(text: string): bigint | undefined {
  const isNegative = text.startsWith('-');
  let rest = text.replace(/^[-+]/, '');
  if (rest === '') return undefined;
  let nanos = 0n;
  while (rest !== '') {
    const [whole, digits = '', fraction = '', unit = ''] = PART.exec(rest) ?? [];
    if (whole === undefined || digits + fraction === '') return undefined;
    nanos += (BigInt(digits + fraction) * UNITS[unit]!) / 10n ** BigInt(fraction.length);
    rest = rest.slice(whole.length);
  }
  return isNegative ? -nanos : nanos;
}

function parseWorded(text: string): bigint | undefined {
  const [, digits, unit = ''] = WORDED.exec(text.trim()) ?? [];
  const nanos = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return digits === undefined || nanos === undefined ? undefined : BigInt(digits) * nanos;
}
