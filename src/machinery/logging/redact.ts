const HIDDEN = '(hidden)';
/** Names of fields whose values are secrets. A fencing token is a number, not a secret. */
const SECRET_NAME =
  /password|secret|authorization|cookie|private.?key|(?<!fencing[._-]?)token(?!s?[_-]?(count|file))/i;
const MAX_DEPTH = 8;

/** Logins in URLs, passwords in queries, bearer tokens and private keys, anywhere in a text. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/)[^\s/"']+@/g, `$1${HIDDEN}@`],
  [/\b((?:\w+-)?password|passwd|pass|token|secret)=[^\s&"']+/gi, `$1=${HIDDEN}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\b(AUTH)\s+(?:\S+\s+)?\S+/g, `$1 ${HIDDEN}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
];

/** The text with recognizable secrets redacted. */
export function redactText(text: string): string {
  let redacted = text;
  for (const [pattern, replacement] of SECRET_TEXTS) redacted = redacted.replace(pattern, replacement);
  return redacted;
}

/** The fields of a log line: texts redacted, fields with secret names hidden. Too deep values are omitted. */
export function redactFields(fields: object, depth = 0): Record<string, unknown> {
  const entries: readonly [string, unknown][] = Object.entries(fields);
  return Object.fromEntries(entries.map(([name, field]) => [name, redactField(name, field, depth)]));
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(too deep)';
  if (Array.isArray(value)) return value.map((each) => redactValue(each, depth + 1));
  return redactFields(value, depth);
}

function redactField(name: string, value: unknown, depth: number): unknown {
  const isSecret = SECRET_NAME.test(name) && typeof value === 'string' && value !== '';
  return isSecret ? HIDDEN : redactValue(value, depth + 1);
}
