import { stringifyJson } from './json-text.js';
import { isJsonObject } from './json-values.js';

/**
 * How Go writes values into messages, for the words of genuine Kubernetes.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/**
 * The characters that Go does not print as they are: all but letters, marks, numbers, punctuation, symbols and the
 * plain space.
 */
const ESCAPED = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** A text in double quotes, as `%q` and `strconv.Quote` show it. */
export function goQuote(text: string): string {
  return `"${text.toWellFormed().replace(ESCAPED, (char) => ESCAPES[char] ?? escapeOf(char))}"`;
}

/** One character in single quotes, as Go's JSON decoder shows what it does not expect. */
export function goQuoteChar(char: string): string {
  if (char === "'") return "'\\''";
  return char === '"' ? "'\"'" : `'${goQuote(char).slice(1, -1)}'`;
}

function escapeOf(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  if (point < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}

/** Whether Go's `unicode.IsPrint` is true of the first character of a text. */
export function isPrintable(char: string): boolean {
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char);
}

const IN_JSON: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Escapes the characters that Go's JSON escapes beyond the need, so that it can be put into HTML. */
export function goJsonEscapes(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (char) => IN_JSON[char] ?? char);
}

/** A value that was read from JSON, as `%v` shows it: `map[a:1 b:[x y]]`. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? value : stringifyJson(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([name, field]) => `${name}:${goValue(field)}`).join(' ')}]`;
}

/** The same as `%#v` shows it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  const type = goTypeOf(value);
  if (Array.isArray(value)) return `${type}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return stringifyJson(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${type}{${entries.map(([name, field]) => `${goQuote(name)}:${goSyntax(field)}`).join(', ')}}`;
}

/** As Go's `%T` names the type of a value that was decoded from JSON. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'int64';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean'
    ? 'bool'
    : typeof value === 'string'
      ? 'string'
      : 'map[string]interface {}';
}
