import { Optional } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { exactInteger } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import { DeclaredObject } from './cel-values.js';
import { ObjectLiteral, PatchLiteral } from './library/object-literals.js';

type Json = null | boolean | string | Int64 | Json[] | { [name: string]: Json };

/**
 * The result of an expression, as JSON.
 * @throws RangeError for what JSON cannot hold
 */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return exactInteger(value);
  if (typeof value === 'number') return value;
  if (Array.isArray(value) || value instanceof Set) return [...value].map(toJson);
  if (value instanceof Map) return objectOf(value);
  if (value instanceof ObjectLiteral || value instanceof PatchLiteral) return objectOf(value.fields);
  if (value instanceof DeclaredObject) return value.json as Json;
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, 'Z');
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Optional && value.hasValue()) return toJson(value.value());
  // The value of a literal of a map.
  if (isPlain(value)) return objectOf(new Map(Object.entries(value)));
  throw new RangeError('a value cannot be written as JSON');
}

/** As protobuf's JSON has it: `1.5s`. */
function durationText({ seconds, nanos }: Duration): string {
  const fraction = nanos === 0 ? '' : withoutTrailing(`.${String(nanos).padStart(9, '0')}`, '0');
  return `${seconds}${fraction}s`;
}

function objectOf(fields: ReadonlyMap<unknown, unknown>): Json {
  return Object.fromEntries([...fields].map(([name, value]) => [String(name), toJson(value)]));
}

/**
 * Literals have to be of the type of the field that they are given to: `Object.spec{}` in the field `spec` of `Object{}`.
 * @returns what is wrong, if something is. Source: CheckTypeNamesMatchFieldPathNames in apiserver's cel/mutation.
 */
export function literalMismatch(literal: ObjectLiteral): string | undefined {
  return mismatchAt(literal, literal.typeName);
}

function mismatchAt(value: unknown, wanted: string): string | undefined {
  if (Array.isArray(value)) return firstOf(value.map((item) => mismatchAt(item, wanted)));
  if (value instanceof Map) return firstOf(Array.from(value.values(), (item) => mismatchAt(item, wanted)));
  if (isPlain(value)) return firstOf(Object.values(value).map((item) => mismatchAt(item, wanted)));
  if (!(value instanceof ObjectLiteral)) return undefined;
  if (value.typeName !== wanted)
    return `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(wanted)}, which matches field name path from root Object type`;
  return firstOf([...value.fields].map(([name, field]) => mismatchAt(field, `${wanted}.${name}`)));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
