/** A sentence with its end: a full stop, unless it asks or has one already. */
export function ended(sentence: string): string {
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
