/** What the library says of an error, as far as it is used here. */
interface LibraryError extends Error {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
}

/** Of what names something, the rest after the library's own words; `$1` is what was in the brackets. */
const WORDS: readonly (readonly [pattern: RegExp, genuine: string])[] = [
  [/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')"],
  [
    /^no such overload: (.*) ([=!<>+\-*/%in]+) (.*)$/,
    "found no matching overload for '_$2_' applied to '($1, $3)'",
  ],
  [
    /^found no matching overload for '(.*)\.(\w+)\((.*)\)'$/,
    "found no matching overload for '$2' applied to '$1.($3)'",
  ],
  [
    /^found no matching overload for '(\w+)\((.*)\)'$/,
    "found no matching overload for '$1' applied to '($2)'",
  ],
];

const RUNTIME_WORDS: readonly (readonly [pattern: RegExp, genuine: string])[] = [
  [/^No such key: index out of bounds, index (-?\d+).*$/, 'index out of bounds: $1'],
  [/^No such key: (.*)$/, 'no such key: $1'],
  [/^integer overflow.*$/, 'integer overflow'],
  [/^modulo by zero$/, 'modulus by zero'],
  [/^no such overload.*$/, 'no such overload'],
  [/^found no matching overload.*$/, 'no such overload'],
  [/^Optional value is not present$/, 'optional.none() dereference'],
];

/**
 * Why an expression cannot be compiled, in the form that cel-go gives it: the place, the words, the line and a mark below.
 * @param shownNames how messages call the declared objects
 */
export function describeProblem(
  expression: string,
  error: unknown,
  shownNames: ReadonlyMap<string, string>,
): string {
  const { summary, message, range, code } = error as LibraryError;
  const said = summary ?? message;
  const isMissingField = code === 'no_such_key';
  const words = isMissingField
    ? said.replace(/^No such key: (.*)$/, "undefined field '$1'")
    : genuine(said, WORDS);
  const shown = words.replace(/\bObject\d+\b/g, (name) => shownNames.get(name) ?? name);
  const start = isMissingField ? pointBefore(expression, range?.start ?? 0) : (range?.start ?? 0);
  return placedProblem(expression, start, shown);
}

/** More bytes of a line are not shown. */
const MAX_LINE = 16_384;

/**
 * A problem with its place, the line and a mark below, which is wide below a wide character. Source: common/error.go of cel-go.
 * @param at undefined for one of the whole expression
 */
export function placedProblem(expression: string, at: number | undefined, message: string): string {
  if (at === undefined) return `ERROR: <input>:-1:0: ${message}`;
  const before = expression.slice(0, at).split('\n');
  const column = [...before.at(-1)!].length;
  const line = (expression.split('\n')[before.length - 1] ?? '').replaceAll('\t', ' ');
  const text = `ERROR: <input>:${before.length}:${column + 1}: ${message}`;
  if (Buffer.byteLength(line) > MAX_LINE) return text;
  const letters = [...line];
  const dots = letters.slice(0, column).map((letter) => (isWide(letter) ? '\uFF0E' : '.'));
  return `${text}\n | ${line}\n | ${dots.join('')}${isWide(letters[column] ?? '') ? '\uFF3E' : '^'}`;
}

function isWide(letter: string): boolean {
  return Buffer.byteLength(letter) > 1;
}

/** Why an evaluation failed. */
export function describeFailure(error: unknown): string {
  const { summary, message } = error as LibraryError;
  return genuine(summary ?? message, RUNTIME_WORDS);
}

function genuine(said: string, words: typeof WORDS): string {
  for (const [pattern, text] of words) if (pattern.test(said)) return said.replace(pattern, text);
  return said;
}

/** The mark is below the dot before the field. */
function pointBefore(expression: string, start: number): number {
  const point = expression.lastIndexOf('.', start);
  return point < 0 ? start : point;
}
