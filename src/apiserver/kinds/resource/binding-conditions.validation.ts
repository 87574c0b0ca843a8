import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { refuseRepeated, validateItems } from './lists.js';

interface Bound {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

const MAX_CONDITIONS = 4;

/**
 * Validates the conditions of a device that has to be made ready: what is waited for, and what ends the wait. Source:
 * validateDeviceBindingParameters.
 */
export function validateBinding(
  { bindingConditions: awaited = [], bindingFailureConditions: failures = [] }: Bound,
  path: string,
  errors: FieldError[],
): void {
  const [awaitedAt, failuresAt] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`];
  const checkName = (name: string, at: string): void => validateSyntax(name, checkQualifiedName, at, errors);
  validateItems(awaited, MAX_CONDITIONS, awaitedAt, errors, checkName);
  validateItems(failures, MAX_CONDITIONS, failuresAt, errors, checkName);
  refuseRepeated(awaited, awaitedAt, errors, (name) => name);
  refuseRepeated(failures, failuresAt, errors, (name) => name);
  const both = new Set(awaited);
  failures.forEach((name, index) => {
    if (both.has(name))
      errors.push(
        invalid(
          `${failuresAt}[${index}]`,
          name,
          'bindingFailureConditions must not overlap with bindingConditions',
        ),
      );
  });
  if (awaited.length === 0 && failures.length > 0)
    errors.push(invalid(awaitedAt, null, 'bindingConditions are required to use bindingFailureConditions'));
  if (failures.length === 0 && awaited.length > 0)
    errors.push(invalid(failuresAt, null, 'bindingFailureConditions are required to use bindingConditions'));
}
