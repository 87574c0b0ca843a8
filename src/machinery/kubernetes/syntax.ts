import { DNS_1035_LABEL, DNS_1123_LABEL } from './names.js';

/**
 * The syntax of names, labels and ports, in the words of k8s.io/apimachinery/pkg/util/validation. Each check
 * returns what is wrong; an empty list means that the text is right.
 */
const LABEL_WITH_UNDERSCORES = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const WITH_UNDERSCORES = `${LABEL_WITH_UNDERSCORES}(\\.${LABEL_WITH_UNDERSCORES})*`;
const SUBDOMAIN = `${DNS_1123_LABEL}(\\.${DNS_1123_LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED})?`;
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const PERCENT = '[0-9]+%';

const LABEL_PATTERN = whole(DNS_1123_LABEL);
const SUBDOMAIN_PATTERN = whole(SUBDOMAIN);
const UNDERSCORE_PATTERN = whole(WITH_UNDERSCORES);
const QUALIFIED_PATTERN = whole(QUALIFIED);
const KEY_PATTERN = whole(`(${SUBDOMAIN}/)?${QUALIFIED}`);
const LABEL_VALUE_PATTERN = whole(LABEL_VALUE);
const LABEL_1035_PATTERN = whole(DNS_1035_LABEL);
const WILDCARD_PATTERN = whole(`\\*\\.${SUBDOMAIN}`);
const CONFIG_KEY_PATTERN = whole(CONFIG_KEY);
const ENV_NAME_PATTERN = /^[\x20-\x3c\x3e-\x7e]+$/;
const PERCENT_PATTERN = whole(PERCENT);

const OK: readonly string[] = [];

const LABEL_PROBLEM = syntaxProblem(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  DNS_1123_LABEL,
  'my-name',
  '123-abc',
);
const UNDERSCORE_PROBLEM = syntaxProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  WITH_UNDERSCORES,
  'example.com',
);
const SUBDOMAIN_PROBLEM = syntaxProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  'example.com',
);
const QUALIFIED_PROBLEM = syntaxProblem(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED,
  'MyName',
  'my.name',
  '123-abc',
);
const LABEL_VALUE_PROBLEM = syntaxProblem(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  'MyValue',
  'my_value',
  '12345',
);
const LABEL_1035_PROBLEM = syntaxProblem(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  'my-name',
  'abc-123',
);
const WILDCARD_PROBLEM = syntaxProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${SUBDOMAIN}`,
  '*.example.com',
);
const CONFIG_KEY_PROBLEM = syntaxProblem(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_KEY,
  'key.name',
  'KEY_NAME',
  'key-name',
);
/** Since 1.32; before, only letters, digits, '_', '-' and '.' were allowed. */
const ENV_NAME_PROBLEM =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const PERCENT_PROBLEM = syntaxProblem(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT,
  '1%',
  '93%',
);

/** Characters of a text that a pattern is tried on. */
const LONGEST_MATCHED = 64 * 1024;

export const NON_NEGATIVE = 'must be greater than or equal to 0';
export const FIELD_IMMUTABLE = 'field is immutable';

export function checkDns1123Label(text: string): readonly string[] {
  const hasDots = text.length <= LONGEST_MATCHED && text.includes('.') && SUBDOMAIN_PATTERN.test(text);
  return checkPattern(text, LABEL_PATTERN, hasDots ? 'must not contain dots' : LABEL_PROBLEM, 63);
}

export function checkDns1123Subdomain(text: string): readonly string[] {
  return checkPattern(text, SUBDOMAIN_PATTERN, SUBDOMAIN_PROBLEM, 253);
}

/** A subdomain whose labels may have underscores, but not end with one. */
export function checkSubdomainWithUnderscores(text: string): readonly string[] {
  return checkPattern(text, UNDERSCORE_PATTERN, UNDERSCORE_PROBLEM, 253);
}

export function checkDns1035Label(text: string): readonly string[] {
  return checkPattern(text, LABEL_1035_PATTERN, LABEL_1035_PROBLEM, 63);
}

/** `*.example.com` */
export function checkWildcardSubdomain(text: string): readonly string[] {
  return checkPattern(text, WILDCARD_PATTERN, WILDCARD_PROBLEM, 253);
}

/** At least two labels: globally unique names. Source: IsFullyQualifiedName. */
export function checkFullyQualifiedName(text: string): readonly string[] {
  const problems = checkDns1123Subdomain(text);
  if (problems.length > 0) return problems;
  return text.split('.').length < 3
    ? ['should be a domain with at least three segments separated by dots']
    : OK;
}

/** Keys of ConfigMaps and Secrets: names of files. */
export function checkConfigMapKey(text: string): readonly string[] {
  const problems = checkPattern(text, CONFIG_KEY_PATTERN, CONFIG_KEY_PROBLEM, 253);
  if (text === '.') return [...problems, "must not be '.'"];
  if (text === '..') return [...problems, "must not be '..'"];
  return text.startsWith('..') ? [...problems, "must not start with '..'"] : problems;
}

/** Names that need only fit into a path. Source: IsValidPathSegmentName. */
export function checkPathSegment(text: string): readonly string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`);
}

export function checkLabelValue(text: string): readonly string[] {
  return checkPattern(text, LABEL_VALUE_PATTERN, LABEL_VALUE_PROBLEM, 63, 'bytes');
}

/** `name` or `prefix/name`: the keys of labels and annotations. */
export function checkQualifiedName(text: string): readonly string[] {
  // So short that neither part can be too long.
  if (text.length <= 63 && KEY_PATTERN.test(text)) return OK;
  if (text.length > LONGEST_MATCHED) return [`name part ${tooLongFor(63, 'bytes')}`];
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_PROBLEM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const problems = parts.length === 2 ? checkPrefix(parts[0] ?? '') : [];
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push(`name part ${tooLongFor(63, 'bytes')}`);
  if (!QUALIFIED_PATTERN.test(name)) problems.push(`name part ${QUALIFIED_PROBLEM}`);
  return problems;
}

function checkPrefix(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return checkDns1123Subdomain(prefix).map(
    (problem) => `prefix part ${problem.replace(/^(must be no more than \d+) characters$/, '$1 bytes')}`,
  );
}

export function checkEnvName(text: string): readonly string[] {
  return checkPattern(text, ENV_NAME_PATTERN, ENV_NAME_PROBLEM, Infinity);
}

export function checkPercent(text: string): readonly string[] {
  return PERCENT_PATTERN.test(text) ? OK : [PERCENT_PROBLEM];
}

export function checkPortNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65535 ? OK : [outOfRange(1, 65535)];
}

export function checkPortName(name: string): readonly string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push(tooLongFor(15, 'characters'));
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

export function outOfRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

function checkPattern(
  text: string,
  pattern: RegExp,
  problem: string,
  most: number,
  unit: LengthUnit = 'characters',
): readonly string[] {
  const fits = text.length <= most;
  if (fits && pattern.test(text)) return OK;
  const problems = fits ? [] : [tooLongFor(most, unit)];
  // A far too long text needs no further errors, and a pattern could run out of memory on it.
  if (text.length > LONGEST_MATCHED) return problems.length > 0 ? problems : [problem];
  return pattern.test(text) ? problems : [...problems, problem];
}

/** Labels are counted in the one word, names in the other; all of them are ASCII. */
type LengthUnit = 'bytes' | 'characters';

function tooLongFor(most: number, unit: LengthUnit): string {
  return `must be no more than ${most} ${unit}`;
}

/** Kubernetes puts a comma after each example, and so do we. */
function syntaxProblem(problem: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${problem} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}
