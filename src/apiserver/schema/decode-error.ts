import { toInt64 } from '@rollkeeper/machinery/kubernetes';
import type { FieldDecoder } from './field-decoder.js';
import { FieldTypeError } from './field-type-error.js';

/**
 * `malformed`: not a document at all. `wrong-type`: a document, with a value whose type is not allowed at its position.
 */
type DecodeProblem = 'malformed' | 'wrong-type';

/**
 * A request body that cannot be read. `message` is the whole text of the Status, in Kubernetes' words; the
 * answer is 400 BadRequest.
 */
export class DecodeError extends Error {
  constructor(
    readonly problem: DecodeProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'DecodeError';
  }
}

/** The problem of a text, without the words about the intended type. */
export function documentProblemOf({ cause, message }: DecodeError): string {
  return typeof cause === 'string' ? cause : message;
}

/** The problem of a value, in the words of Go's JSON decoder, without those about the intended type. */
export function problemOf({ cause, message }: DecodeError): string {
  return cause instanceof FieldTypeError ? cause.message : message;
}

/** The same in the words of apimachinery's converter, which makes objects of maps. */
export function conversionProblem(error: DecodeError): string {
  const { cause } = error;
  if (!(cause instanceof FieldTypeError) || !cause.found) return problemOf(error);
  const { alone, field, value } = cause.found;
  if (alone !== undefined) return alone;
  const from = sourceKind(value);
  switch (field.kind) {
    case 'object':
      return `cannot restore struct from: ${from}`;
    case 'map':
      return `cannot restore map from ${from}`;
    case 'array':
      return `cannot restore slice from ${from}`;
    default:
      return isConvertible(from, field)
        ? `cannot convert ${from} to ${field.goType}`
        : `unrecognized type: ${goKind(field)}`;
  }
}

/** Go's kind of a value that was read into a map. */
function sourceKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'bigint' || Number.isInteger(value))
    return toInt64(value) === undefined ? 'float64' : 'int64';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map';
}

/** Go converts numbers into each other, and integers into texts. */
function isConvertible(from: string, { kind }: FieldDecoder): boolean {
  if (from === 'int64') return kind !== 'boolean';
  return from === 'float64' && kind !== 'boolean' && kind !== 'string';
}

function goKind({ kind }: FieldDecoder): string {
  return kind === 'boolean' ? 'bool' : kind === 'number' ? 'float64' : kind;
}
