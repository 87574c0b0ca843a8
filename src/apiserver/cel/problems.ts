import { OWN_HAS } from './library/macros.js';
import type { ExpressionNode } from './library/cost.js';
import { typesIn } from './type-names.js';
import { nodesIn } from './library/cost.js';

const INFIX = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%', '&&', '||']);
const OPENING: Readonly<Record<string, string>> = { '[]': '[', '[?]': '[', '.': '.', '.?': '.', '?:': '?' };

/** Returns the place that cel-go gives a node: its operator, point or opening bracket, or its beginning. */
function placeOf(node: ExpressionNode, expression: string): number {
  const { op, start } = node;
  const after = (from: number, text: string): number => {
    const at = expression.indexOf(text, from);
    return at < 0 ? start : at;
  };
  if (op === 'call') return after(start, '(');
  if (node.op === 'rcall') return after(node.args[1].end, '(');
  const sought = INFIX.has(op) ? op : OPENING[op];
  const [first] = nodesIn(node.args);
  return sought === undefined || !first ? start : after(first.end, sought);
}

/** The type that a node was found to have; undefined before it was checked. */
function typeNameOf({ checkedType }: ExpressionNode): string | undefined {
  return checkedType?.name;
}

/** An error of the library, as far as it is used here. */
interface LibraryError extends Error {
  readonly code?: string;
  readonly summary?: string;
  readonly range?: { readonly start: number };
  readonly node?: ExpressionNode;
  /** The call of `has` whose field is not there. */
  readonly call?: ExpressionNode;
}

/**
 * The genuine words for an error that names something: the rest after the library's own words; `$1` is what was in the
 * brackets.
 */
const WORDS: readonly (readonly [pattern: RegExp, genuine: string])[] = [
  [/^Unknown variable: (.*)$/, "undeclared reference to '$1' (in container '')"],
  [/^no such overload: (.*) in (.*)$/, "found no matching overload for '@in' applied to '($1, $2)'"],
  [
    /^no such overload: (.*) ([=!<>+\-*/%]+) (.*)$/,
    "found no matching overload for '_$2_' applied to '($1, $3)'",
  ],
  [/^no such overload: ([!-])(.*)$/, "found no matching overload for '$1_' applied to '($2)'"],
  [
    /^found no matching overload for '(.*)\.(\w+)\((.*)\)'$/,
    "found no matching overload for '$2' applied to '$1.($3)'",
  ],
  [
    /^found no matching overload for '(\w+)\((.*)\)'$/,
    "found no matching overload for '$1' applied to '($2)'",
  ],
  [/^Logical operator requires bool operands, got '(.*)'$/, "expected type 'bool' but found '$1'"],
  [
    /^(?:all|exists)\(var, predicate\) predicate must return bool, got '(.*)'$/,
    "expected type 'bool' but found '$1'",
  ],
  [/^.* invalid predicate iteration variable$/, 'argument must be a simple name'],
  [/^Expression (of type .* cannot be range of a comprehension \(.*\))\.$/, 'expression $1'],
];

const RUNTIME_WORDS: readonly (readonly [pattern: RegExp, genuine: string])[] = [
  [/^No such key: index out of bounds, index (-?\d+)(?:\D.*)?$/, 'index out of bounds: $1'],
  [/^No such key: (.*)$/, 'no such key: $1'],
  [/^integer overflow.*$/, 'integer overflow'],
  [/^modulo by zero$/, 'modulus by zero'],
  [/^no such overload.*$/, 'no such overload'],
  [/^found no matching overload.*$/, 'no such overload'],
  [/^Optional value is not present$/, 'optional.none() dereference'],
];

/** A mistake in an expression. */
export interface PlacedMistake {
  /** Offset in characters; undefined for one of the whole expression. */
  readonly at: number | undefined;
  /** In the words of cel-go. */
  readonly message: string;
}

/**
 * Why an expression cannot be compiled.
 * @param shownNames how messages call the declared objects
 * @param isFunction whether there is a function of a name
 */
export function mistakeIn(
  expression: string,
  error: unknown,
  shownNames: ReadonlyMap<string, string>,
  isFunction: (name: string) => boolean,
): PlacedMistake {
  const { summary, message, range, node, code, call } = error as LibraryError;
  const said = (node && accessProblem(node, code)) ?? genuine(summary ?? message, WORDS);
  const shown = typesIn(said).replaceAll(/\bObject\d+\b/g, (name) => shownNames.get(name) ?? name);
  const called = /^found no matching overload for '(\w+)' applied to/.exec(shown)?.[1];
  const isKnown = called === undefined || (called !== OWN_HAS && isFunction(called));
  const words = isKnown
    ? shown
    : `undeclared reference to '${called === OWN_HAS ? 'has' : called}' (in container '')`;
  const at = node ? placeOf(call ?? wrongPart(node, code), expression) : (range?.start ?? 0);
  return { at, message: words };
}

/** Describes a field that cannot be selected from a value, or not in this way. */
function accessProblem(node: ExpressionNode, code: string | undefined): string | undefined {
  if (node.op !== '.' && node.op !== '.?' && node.op !== '[]' && node.op !== '[?]') return undefined;
  // A field is selected by its name, an entry by an expression.
  const [owner, key]: readonly [ExpressionNode, ExpressionNode | string] = node.args;
  const type = typeNameOf(owner) ?? '';
  if (code === 'no_such_key')
    return typeof key === 'string' ? `undefined field '${key}'` : overload(node.op, type, key);
  if (code !== 'invalid_index_type' && code !== 'cannot_index_type') return undefined;
  return typeof key === 'string'
    ? `type '${type}' does not support field selection`
    : overload(node.op, type, key);
}

function overload(op: string, type: string, key: ExpressionNode): string {
  const name = op === '[]' ? '_[_]' : '_[?_]';
  return `found no matching overload for '${name}' applied to '(${type}, ${typeNameOf(key) ?? 'dyn'})'`;
}

/** Returns the operand of a conjunction that is no truth value. */
function wrongPart(node: ExpressionNode, code: string | undefined): ExpressionNode {
  if (code !== 'invalid_logical_operand' || (node.op !== '&&' && node.op !== '||')) return node;
  const operands: readonly ExpressionNode[] = node.args;
  return operands.find((operand) => !['bool', 'dyn'].includes(typeNameOf(operand) ?? '')) ?? node;
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
