const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(s|m|h|d)/gy;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:s|m|h|d))+$/;
/** No rollout takes longer, and a timer holds it. */
const LONGEST_MS = 366 * 86_400_000;

/** `90s`, `5m`, `1h30m`, `2d` as milliseconds; `undefined` for anything else, or for more than a year. */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) totalMs += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0);
  return totalMs <= LONGEST_MS ? Math.round(totalMs) : undefined;
}

/** The same, for people: `1h30m`. */
export function renderDuration(ms: number): string {
  let left = Math.max(0, Math.ceil(ms / 1000));
  if (left === 0) return '0s';
  let text = '';
  for (const [unit, unitMs] of Object.entries(UNITS_MS).reverse()) {
    const count = Math.floor(left / (unitMs / 1000));
    if (count > 0) text += `${count}${unit}`;
    left -= count * (unitMs / 1000);
  }
  return text;
}
