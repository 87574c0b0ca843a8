import type { SyntaxProblem } from './syntax-problems.js';

/** What the library says of an error, as far as it is used here. */
interface LibraryError extends Error {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
}

/** Of what names something, the rest after the library's own words; `$1` is what was in the brackets. */
const WORDS: readonly (readonly [pattern: RegExp, genuine: string])[] = [
  [/^Reserved identifier: (.*)$/, 'reserved identifier: $1'],
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
  return placed(expression, start, shown);
}

/** What is wrong at several places of a text. */
export function describeSyntax(expression: string, problems: readonly SyntaxProblem[]): string {
  return problems.map(({ start, words }) => placed(expression, start, words)).join('\n');
}

/** The marks below the line are wide where its characters are no ASCII. */
function placed(expression: string, start: number, words: string): string {
  const before = expression.slice(0, start).split('\n');
  const head = [...before.at(-1)!];
  const line = expression.split('\n')[before.length - 1] ?? '';
  const [at = ''] = line.slice(before.at(-1)!.length);
  const marks = head.map((char) => (isWide(char) ? '．' : '.')).join('') + (isWide(at) ? '＾' : '^');
  return `ERROR: <input>:${before.length}:${head.length + 1}: ${words}\n | ${line}\n | ${marks}`;
}

function isWide(char: string): boolean {
  return char > '\u007f';
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
