import { checkPercent, nanosOf, NON_NEGATIVE } from '@rollkeeper/machinery/kubernetes';
import type { Amount } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid } from './field-errors.js';

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

/** Source: validateBasicResource in pkg/apis/core/validation/validation.go. */
export function validateBasicAmount(amount: Amount | undefined, field: string, errors: FieldError[]): void {
  const nanos = nanosOf(amount);
  // Away from zero, as `Quantity.Value` rounds.
  const whole = -((-nanos + NANOS - 1n) / NANOS);
  if (nanos < 0n) errors.push(invalid(field, whole, 'must be a valid resource quantity'));
}

const NANOS = 1_000_000_000n;

type IntOrPercent = number | string;

/** A number that is not negative, or a percentage. Source: ValidatePositiveIntOrPercent. */
export function validateIntOrPercent(value: IntOrPercent, field: string, errors: FieldError[]): void {
  if (typeof value === 'number') {
    if (value < 0) errors.push(invalid(field, value, NON_NEGATIVE));
    return;
  }
  for (const problem of checkPercent(value)) errors.push(invalid(field, value, problem));
}

/** The number in it; text that is no percentage counts as 0, and has been refused already. */
export function numberIn(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  return checkPercent(value).length === 0 ? Number.parseInt(value, 10) : 0;
}

export function validateNotAboveAll(value: IntOrPercent, field: string, errors: FieldError[]): void {
  if (typeof value === 'string' && numberIn(value) > 100)
    errors.push(invalid(field, value, 'must not be greater than 100%'));
}
