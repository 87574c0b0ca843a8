import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
} from '@rollkeeper/machinery/types/resource-v1';
import { canonicalQuantity, nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from '../validation/field-errors.js';
import { validateSetOf } from './lists.js';

type Quantity = string | number;

const MAX_VALUES = 10;
const NANOS = 1_000_000_000n;

/** Source: validateMultiAllocatableDeviceCapacity and validateSingleAllocatableDeviceCapacity. */
export function validateCapacity(
  { requestPolicy: policy, value: most = '0' }: Decoded<DeviceCapacity>,
  isShared: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!policy) return;
  const at = `${path}.requestPolicy`;
  if (!isShared) errors.push(forbidden(at, 'allowMultipleAllocations must be true'));
  else if (policy.validValues?.length && policy.validRange)
    errors.push(
      forbidden(
        at,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    );
  else validatePolicy(policy, most, at, errors);
}

function validatePolicy(
  { default: usual, validRange, validValues }: Decoded<CapacityRequestPolicy>,
  most: Quantity,
  path: string,
  errors: FieldError[],
): void {
  const field = validValues?.length ? 'validValues' : 'validRange';
  if (!validValues?.length && !validRange) return;
  if (usual === undefined) errors.push(required(`${path}.default`, `required when ${field} is defined`));
  else if (validValues?.length) validateValues(validValues, usual, most, `${path}.validValues`, errors);
  else if (validRange) validateRange(validRange, usual, most, `${path}.validRange`, errors);
}

function validateValues(
  values: readonly Quantity[],
  usual: Quantity,
  most: Quantity,
  path: string,
  errors: FieldError[],
): void {
  values.forEach((value, index) => {
    const before = values[index - 1];
    if (before !== undefined && nanosOf(before) > nanosOf(value))
      errors.push(invalid(`${path}[${index}]`, shown(value), 'values must be sorted in ascending order'));
  });
  validateSetOf(values, MAX_VALUES, path, errors, {
    check(value, at) {
      if (nanosOf(value) > nanosOf(most))
        errors.push(invalid(at, shown(value), `option is larger than capacity value: ${shown(most)}`));
    },
    keyOf: (value) => String(wholeOf(value)),
  });
  const isLooked = values.length <= MAX_VALUES;
  if (!isLooked || !values.some((value) => nanosOf(value) === nanosOf(usual)))
    errors.push(invalid(path, shown(usual), 'default value is not valid according to the requestPolicy'));
}

function validateRange(
  { max, min, step }: Decoded<CapacityRequestPolicyRange>,
  usual: Quantity,
  most: Quantity,
  path: string,
  errors: FieldError[],
): void {
  if (min === undefined) {
    errors.push(required(`${path}.min`, 'required when validRange is defined'));
    return;
  }
  const refuse = (field: string, value: Quantity, isWrong: boolean, problem: string): void => {
    if (isWrong) errors.push(invalid(`${path}.${field}`, shown(value), problem));
  };
  const isMore = (one: Quantity, other: Quantity): boolean => nanosOf(one) > nanosOf(other);
  refuse('min', min, isMore(min, most), `min is larger than capacity value: ${shown(most)}`);
  refuse('min', usual, isMore(min, usual), `default is less than min: ${shown(min)}`);
  if (max !== undefined) {
    refuse('max', min, isMore(min, max), `min is larger than max: ${shown(max)}`);
    refuse('max', max, isMore(max, most), `max is larger than capacity value: ${shown(most)}`);
    refuse('max', usual, isMore(usual, max), `default is more than max: ${shown(max)}`);
  }
  if (step === undefined) return;
  const added = nanosOf(min) + nanosOf(step);
  const sum = shown(`${added}n`);
  refuse(
    'step',
    step,
    added > nanosOf(most),
    `one step ${sum} is larger than capacity value: ${shown(most)}`,
  );
  for (const value of [usual, ...(max === undefined ? [] : [max])])
    refuse(
      'step',
      value,
      !isMultiple(value, min, step),
      `value is not a multiple of a given step (${shown(step)}) from (${shown(min)})`,
    );
}

function isMultiple(value: Quantity, min: Quantity, step: Quantity): boolean {
  const whole = wholeOf(step);
  return whole === 0n || (wholeOf(value) - wholeOf(min)) % whole === 0n;
}

/** As Go's `Value()` has it, rounded up. */
function wholeOf(value: Quantity): bigint {
  const nanos = nanosOf(value);
  return nanos > 0n ? (nanos + NANOS - 1n) / NANOS : nanos / NANOS;
}

function shown(value: Quantity): string {
  return canonicalQuantity(String(value)) ?? String(value);
}
