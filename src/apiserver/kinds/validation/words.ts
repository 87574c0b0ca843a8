import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from './field-errors.js';

/** A field that must hold one of a few words. */
export interface WordRule {
  readonly field: string;
  readonly words: readonly string[];
  /** Absent counts as empty, and is missed rather than not supported. @default false */
  readonly isRequired?: boolean;
}

/** Refuses words that are not among those of the rule. Absent fields are fine unless the rule requires them. */
export function validateWords(
  object: Readonly<Record<string, unknown>>,
  rules: readonly WordRule[],
  path: string,
  errors: FieldError[],
): void {
  for (const { field, words, isRequired } of rules) {
    const value = object[field];
    // The decoder keeps an empty text only where it differs from none.
    if (value === undefined || (value === '' && isRequired)) {
      if (isRequired) errors.push(required(`${path}.${field}`));
    } else if (!words.some((word) => word === value)) {
      errors.push(notSupported(`${path}.${field}`, value, words));
    }
  }
}

/** Adds an `Invalid value` for each problem that `check` has with `value`. */
export function validateSyntax<T extends string | number>(
  value: T,
  check: (value: T) => readonly string[],
  field: string,
  errors: FieldError[],
): void {
  for (const problem of check(value)) errors.push(invalid(field, value, problem));
}
