import { shortened } from '../../schema/errors/index.js';
import { goJsonEscapes, goQuote, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';

/**
 * Makers of field errors in the words of k8s.io/apimachinery/pkg/util/validation/field.
 */
/** Characters of a value that an error repeats: a genuine server repeats all of it. */
const MAX_SHOWN_LENGTH = 32 * 1024;
/** Limits of the collected errors, by number and by characters: one object can have an error on every line. */
const MAX_ERRORS = 500;
const MAX_ERRORS_LENGTH = 128 * 1024;

/** Ends a validation that has found enough. */
class EnoughErrors extends Error {}

class BoundedErrors extends Array<FieldError> {
  private textLength = 0;

  override push(...errors: FieldError[]): number {
    for (const error of errors) {
      super.push(error);
      this.textLength += error.field.length + error.message.length;
      if (this.length >= MAX_ERRORS || this.textLength >= MAX_ERRORS_LENGTH) throw new EnoughErrors();
    }
    return this.length;
  }
}

/** The errors found by `validate`, which is stopped once there are too many to read. */
export function collectErrors(validate: (errors: FieldError[]) => void): FieldError[] {
  const errors = new BoundedErrors();
  try {
    validate(errors);
    return errors.length === 0 ? [] : Array.from(errors);
  } catch (error) {
    if (!(error instanceof EnoughErrors)) throw error;
    return [...errors, tooManyErrors(errors.length)];
  }
}

function tooManyErrors(shown: number): FieldError {
  const message = `Too many: there may be more errors than these ${shown}`;
  return { type: 'FieldValueTooMany', field: '<nil>', message };
}

export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${show(value)}`, detail) };
}

/** An error without a value, which would say no more than the detail does. */
export function invalidFor(field: string, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((word) => goQuote(word)).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field,
    message: withDetail(`Unsupported value: ${show(value)}`, `supported values: ${list}`),
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function internalError(field: string, detail: string): FieldError {
  return { type: 'InternalError', field, message: withDetail('Internal error', detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${show(value)}` };
}

/** A duplicate whose value is not shown. */
export function duplicateOf(field: string): FieldError {
  return { type: 'FieldValueDuplicate', field, message: 'Duplicate value' };
}

export function notFound(field: string, value: unknown, detail = ''): FieldError {
  return { type: 'FieldValueNotFound', field, message: withDetail(`Not found: ${show(value)}`, detail) };
}

export function tooLong(field: string, bytes: number): FieldError {
  return {
    type: 'FieldValueTooLong',
    field,
    message: `Too long: may not be more than ${bytes} bytes`,
  };
}

export function tooMany(field: string, count: number, most: number): FieldError {
  return {
    type: 'FieldValueTooMany',
    field,
    message: `Too many: ${count}: must have at most ${most} items`,
  };
}

/** Values as Go's `field.Error` shows them: texts in Go's quotes, all others as its JSON. Of large ones, the beginning. */
function show(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value === 'string') return goQuote(shortened(value, MAX_SHOWN_LENGTH));
  return shortened(goJsonEscapes(stringifyJson(value)), MAX_SHOWN_LENGTH);
}

/** Texts as Go's `%q` prints a slice of them. */
export function quotedList(words: readonly string[]): string {
  return `[${words.map((word) => goQuote(word)).join(' ')}]`;
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
