const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const ANY = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * `metav1.Time`: RFC 3339 in UTC with whole seconds.
 * @returns undefined when `text` is no RFC 3339 time
 */
export function canonicalTime(text: string): string | undefined {
  const ms = parseTime(text);
  if (ms === undefined) return undefined;
  return SECONDS.test(text) ? text : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `metav1.MicroTime`: the same with six digits after the second. */
export function canonicalMicroTime(text: string): string | undefined {
  const ms = parseTime(text);
  if (ms === undefined) return undefined;
  const fraction = (ANY.exec(text)?.[1] ?? '').slice(0, 6).padEnd(6, '0');
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
}

/** What Go says of text that is no time. */
export function timeSyntax(text: string, isMicro: boolean): string {
  const layout = isMicro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  return `parsing time "${text}" as "${layout}": cannot parse "${text}" as "2006"`;
}

function parseTime(text: string): number | undefined {
  if (!ANY.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
