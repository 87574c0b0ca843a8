import type { FieldError } from '../kind-definition.js';
import { invalid } from './field-errors.js';
import { NON_NEGATIVE } from './syntax.js';

/** Refuses those of the named fields that are below zero. Absent ones are fine. */
export function validateNonNegative<T extends object>(
  object: T,
  fields: readonly (keyof T & string)[],
  path: string,
  errors: FieldError[],
): void {
  for (const field of fields) {
    const value: unknown = object[field];
    if ((typeof value === 'number' || typeof value === 'bigint') && value < 0)
      errors.push(invalid(`${path}.${field}`, value, NON_NEGATIVE));
  }
}

/** `smaller` must not be above `greater`. */
export interface AtMostRule<T> {
  readonly smaller: keyof T & string;
  readonly greater: keyof T & string;
  readonly problem: string;
}

/** Absent numbers count as zero. */
export function validateAtMost<T extends object>(
  object: T,
  rules: readonly AtMostRule<T>[],
  path: string,
  errors: FieldError[],
): void {
  for (const { smaller, greater, problem } of rules) {
    const value = (object[smaller] as number | undefined) ?? 0;
    const limit = (object[greater] as number | undefined) ?? 0;
    if (value > limit) errors.push(invalid(`${path}.${smaller}`, value, problem));
  }
}
