import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { meter } from './cost.js';
import { matchesPattern, readPattern } from './macros.js';
import { register } from './register.js';

/** Longer texts only come from abuse. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** Registers what cel-go's strings extension and Kubernetes' regular expressions have beyond the library's own. */
export function registerTexts(environment: Environment): void {
  register(environment, {
    'string.charAt(int): string': (text: string, index: bigint) => {
      if (index < 0n || index > BigInt(text.length))
        throw new EvaluationError(`index out of range: ${index}`);
      return text.charAt(Number(index));
    },
    'string.replace(string, string): string': (text: string, from: string, to: string) =>
      replace(text, from, to, -1n),
    'string.replace(string, string, int): string': replace,
    'string.format(list): string': (text: string, values: readonly unknown[]) => format(text, values),
    'string.reverse(): string': (text: string) => [...text].reverse().join(''),
    'string.find(string): string': (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? '',
    'string.findAll(string): list<string>': (text: string, pattern: string) =>
      findAll(text, pattern, Number.POSITIVE_INFINITY),
    'string.findAll(string, int): list<string>': (text: string, pattern: string, limit: bigint) =>
      findAll(text, pattern, limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)),
    'matches(string, string): bool': matchesPattern,
  });
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  let left = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  const parts = from === '' ? [...text] : text.split(from);
  const places = Math.min(left, from === '' ? parts.length + 1 : parts.length - 1);
  checkLength(text.length + places * to.length);
  if (from === '') {
    const [start, end] = [left-- > 0 ? to : '', ''];
    return start + parts.map((part) => part + (left-- > 0 ? to : end)).join('');
  }
  return parts.map((part, index) => (index === 0 ? part : (left-- > 0 ? to : from) + part)).join('');
}

function findAll(text: string, pattern: string, limit: number): string[] {
  meter.charge((1 + text.length / 10) * (1 + pattern.length / 4));
  return readPattern(pattern).findAll(text, limit);
}

function checkLength(length: number): void {
  meter.charge(length / 10);
  if (length > MAX_LENGTH) throw new EvaluationError('the text becomes too long');
}

const CLAUSE = /%(?:\.(\d+))?([sdfebxXo%])|%/g;

/** Source: cel-go/ext/formatting.go. */
function format(text: string, values: readonly unknown[]): string {
  let next = 0;
  let length = 0;
  return text.replaceAll(CLAUSE, (_all, precision: string | undefined, verb: string | undefined) => {
    if (verb === '%') return '%';
    if (verb === undefined) throw new EvaluationError('unrecognized formatting clause');
    if (next >= values.length) throw new EvaluationError(`index ${next} out of range`);
    const written = formatValue(values[next++], verb, precision === undefined ? 6 : Number(precision));
    checkLength((length += written.length));
    return written;
  });
}

function formatValue(value: unknown, verb: string, precision: number): string {
  switch (verb) {
    case 's':
      return textOf(value);
    case 'd':
      if (typeof value === 'bigint' || value instanceof UnsignedInt) return value.toString();
      break;
    case 'f':
      if (isNumber(value)) return Number(value).toFixed(Math.min(precision, 100));
      break;
    case 'e':
      if (isNumber(value)) return exponential(Number(value), precision);
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    default: {
      const hex = hexOf(value);
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw new EvaluationError(`error during formatting: %${verb} does not take this value`);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function exponential(value: number, precision: number): string {
  return value.toExponential(Math.min(precision, 100)).replace(/e([-+])(\d)$/, 'e$10$2');
}

function hexOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString(16);
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Duration) return `${Number(value.seconds) + value.nanos / 1e9}s`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (Array.isArray(value) || value instanceof Set) return `[${[...value].map(textOf).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${textOf(key)}: ${textOf(item)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  if (value instanceof UnsignedInt) return value.toString();
  throw new EvaluationError('error during formatting: string clause does not take this value');
}
