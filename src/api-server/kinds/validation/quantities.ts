import { parseQuantity } from '../../../base/kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from './field-errors.js';
import { NON_NEGATIVE } from './syntax.js';

export type Amount = string | number;
export type Amounts = Readonly<Record<string, Amount>>;

/** In billionths; what is absent is nothing. */
export function nanosOf(amount: Amount | undefined): bigint {
  return parseQuantity(String(amount ?? '0'))?.nanos ?? 0n;
}

export const NANOS = 1_000_000_000n;

export function validateNonNegativeAmount(amount: Amount, field: string, errors: FieldError[]): void {
  if (nanosOf(amount) < 0n) errors.push(invalid(field, String(amount), NON_NEGATIVE));
}

export function validatePositiveAmount(
  amount: Amount | undefined,
  field: string,
  errors: FieldError[],
): void {
  if (nanosOf(amount) <= 0n) errors.push(invalid(field, String(amount ?? '0'), 'must be greater than zero'));
}
