import {
  QUANTITY_SYNTAX,
  canonicalQuantity,
  isJsonObject,
  roundedUp,
  toInt64,
} from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { FieldDecoder } from './field-decoder.js';
import { FieldTypeError } from './field-type-error.js';
import { canonicalMicroTime, canonicalTime, timeSyntax } from './times.js';

/** The scalar that a type reads that decodes itself. */
export function scalarTypeOf({ kind }: FieldDecoder): string | undefined {
  if (kind === 'int-or-string') return 'int32';
  return kind === 'time' || kind === 'micro-time' ? 'string' : undefined;
}

/** A number without a fraction. Undefined beyond 64 bits, where the result of Go depends on the processor. */
export function wholeNumber(value: Int64): bigint | undefined {
  const integer = toInt64(value);
  return integer === undefined ? undefined : BigInt(integer);
}

/** @throws FieldTypeError */
export function quantity(value: unknown): string {
  const text = isNumber(value) ? String(value) : value;
  const result = typeof text === 'string' ? canonicalQuantity(text) : undefined;
  if (result === undefined) throw new FieldTypeError(QUANTITY_SYNTAX);
  return result;
}

/** Amounts of resources have no more than thousandths. Source: SetDefaults_ResourceList in pkg/apis/core/v1/defaults.go. */
export function thousandths(amount: unknown): unknown {
  return typeof amount === 'string' ? roundedUp(amount) : amount;
}

/** @throws FieldTypeError */
export function time(text: string, { kind }: FieldDecoder): string {
  const isMicro = kind === 'micro-time';
  const canonical = isMicro ? canonicalMicroTime(text) : canonicalTime(text);
  if (canonical === undefined) throw new FieldTypeError(timeSyntax(text, isMicro));
  return canonical;
}

/** The value that Go has in place of a null in a list or a map. */
export function zeroOf(field: FieldDecoder): unknown {
  switch (field.kind) {
    case 'object':
    case 'map':
      return {};
    case 'array':
      return [];
    case 'int32':
    case 'int64':
    case 'number':
    case 'int-or-string':
      return 0;
    case 'boolean':
      return false;
    case 'quantity':
      return '0';
    case 'time':
    case 'micro-time':
    case 'any':
    case 'union':
      return null;
    case 'string':
    case 'bytes':
      return '';
  }
}

/** The alternative of a union that takes values of this JSON type. */
export function alternativeFor(value: unknown, { anyOf = [] }: FieldDecoder): FieldDecoder | undefined {
  const kind = Array.isArray(value) ? 'array' : typeof value;
  return anyOf.find((alternative) => alternative.kind === kind);
}

/** Whether encoding leaves the value out of an optional field. Empty structs stay: `emptyDir: {}`. */
export function isEmpty(value: unknown, field: FieldDecoder): boolean {
  // A field that may be anything is held by a pointer: an empty text is a value.
  if (field.omit === 'nothing' || field.kind === 'any') return false;
  if (value === '') return true;
  if (field.omit === 'zero') return value === 0 || value === false;
  if (field.kind === 'array') return (value as unknown[]).length === 0;
  if (field.kind !== 'map') return false;
  for (const _key in value as object) return false;
  return true;
}

/** The converter makes JSON of what may be anything, with its keys in order. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}

export function isNumber(value: unknown): value is Int64 {
  return typeof value === 'number' || typeof value === 'bigint';
}

export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
