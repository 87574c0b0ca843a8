const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** A duration of the Gateway API (GEP-2257), such as `1m30s`, in milliseconds; undefined for none, which `0s` is too. */
export function durationMs(text: string | undefined): number | undefined {
  const parts = [...(text ?? '').matchAll(/(\d{1,5})(ms|h|m|s)/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS_MS[unit ?? ''] ?? 0), 0);
  return total > 0 ? total : undefined;
}
