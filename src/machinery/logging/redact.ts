const HIDDEN = '(hidden)';
/** Names of fields whose values are secrets, whatever they look like. A fencing token is a number, and no secret. */
const SECRET_NAME =
  /password|secret|authorization|cookie|private.?key|(?<!fencing[._-]?)token(?!s?[_-]?(count|file))/i;
const MAX_DEPTH = 8;

/** Logins in URLs, passwords in queries, bearer tokens and private keys, wherever in a text they stand. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/(:\/\/)[^\s/"']+@/g, `$1${HIDDEN}@`],
  [/\b((?:\w+-)?password|passwd|pass|token|secret)=[^\s&"']+/gi, `$1=${HIDDEN}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\b(AUTH)\s+(?:\S+\s+)?\S+/g, `$1 ${HIDDEN}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
];

/** A text without the secrets that can be told by their form. */
export function redactText(text: string): string {
  let redacted = text;
  for (const [pattern, replacement] of SECRET_TEXTS) redacted = redacted.replace(pattern, replacement);
  return redacted;
}

/** A value for a log line: texts redacted, fields with telling names hidden. What is too deep is left out. */
export function redactFields(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(too deep)';
  if (Array.isArray(value)) return value.map((each) => redactFields(each, depth + 1));
  const entries = Object.entries(value).map(([name, field]) => [name, redactField(name, field, depth)]);
  return Object.fromEntries(entries) as unknown;
}

function redactField(name: string, value: unknown, depth: number): unknown {
  const isSecret = SECRET_NAME.test(name) && typeof value === 'string' && value !== '';
  return isSecret ? HIDDEN : redactFields(value, depth + 1);
}
