import { parseGoDuration } from '@rollkeeper/machinery/clock';

const WORDS: Readonly<Record<string, bigint>> = {
  ns: 1n, nano: 1n,
  us: 1_000n, µs: 1_000n, μs: 1_000n, micro: 1_000n,
  ms: 1_000_000n, milli: 1_000_000n,
  s: 1_000_000_000n, sec: 1_000_000_000n, second: 1_000_000_000n,
  m: 60_000_000_000n, min: 60_000_000_000n, minute: 60_000_000_000n,
  h: 3_600_000_000_000n, hr: 3_600_000_000_000n, hour: 3_600_000_000_000n,
  d: 86_400_000_000_000n, day: 86_400_000_000_000n,
  w: 604_800_000_000_000n, week: 604_800_000_000_000n, wk: 604_800_000_000_000n,
}; // prettier-ignore
const WORDED = /^(\d{1,19})\s*([a-zµμ]+?)s?$/;

/**
 * A duration as fields of the format have it: `1h30m`, `5 days`.
 * Source: ParseDuration in kube-openapi/pkg/validation/strfmt.
 * @returns nanoseconds; undefined for any other text
 */
export function parseDuration(text: string): bigint | undefined {
  return parseGoDuration(text) ?? parseWorded(text);
}

function parseWorded(text: string): bigint | undefined {
  const [, digits, word = ''] = WORDED.exec(text.trim()) ?? [];
  const nanoseconds = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  return digits === undefined || nanoseconds === undefined ? undefined : BigInt(digits) * nanoseconds;
}
