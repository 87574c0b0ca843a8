import { stringifyJson } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';

/**
 * Makers of field errors in the words of k8s.io/apimachinery/pkg/util/validation/field.
 */
export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${show(value)}`, detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((word) => JSON.stringify(word)).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field,
    message: withDetail(`Unsupported value: ${show(value)}`, `supported values: ${list}`),
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${show(value)}` };
}

export function notFound(field: string, value: unknown): FieldError {
  return { type: 'FieldValueNotFound', field, message: `Not found: ${show(value)}` };
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

/** Values are shown as JSON, the keys of maps sorted: the way of Kubernetes 1.34. */
function show(value: unknown): string {
  return value === undefined ? 'null' : stringifyJson(value);
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
