import { parseGoTime } from './go-time.js';

const SECONDS = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/**
 * `metav1.Time`: RFC 3339 in UTC with whole seconds.
 * @throws TimeSyntaxError
 */
export function canonicalTime(text: string): string {
  return SECONDS.test(text) ? text : `${wholeSeconds(parseGoTime(text, false).ms)}Z`;
}

/**
 * `metav1.MicroTime`: the same with six digits after the second.
 * @throws TimeSyntaxError
 */
export function canonicalMicroTime(text: string): string {
  const { fraction, ms } = parseGoTime(text, true);
  return `${wholeSeconds(ms)}.${fraction}Z`;
}

function wholeSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
