const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A Go duration of hours, minutes, seconds and milliseconds, in milliseconds; undefined if malformed. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, number, unit = ''] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy)) {
    total += Number(number) * (UNIT_MS[unit] ?? 0);
  }
  return total;
}

/** As Go prints it: `800ms`, `10s`, `1m20s`, `5m0s`, `1h0m0s`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1_000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}
