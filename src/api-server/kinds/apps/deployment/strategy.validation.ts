import type { DeploymentSpec } from '../../../../kubernetes/index.js';
import type { FieldError } from '../../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { NON_NEGATIVE, checkPercent } from '../../validation/syntax.js';

type Strategy = NonNullable<DeploymentSpec['strategy']>;
type RollingUpdate = NonNullable<Strategy['rollingUpdate']>;
type IntOrPercent = number | string;

/** Source: ValidateDeploymentStrategy in pkg/apis/apps/validation/validation.go. */
export function validateStrategy(strategy: Strategy, field: string, errors: FieldError[]): void {
  switch (strategy.type) {
    case 'Recreate':
      if (strategy.rollingUpdate) {
        errors.push(
          forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"),
        );
      }
      return;
    case 'RollingUpdate':
      if (strategy.rollingUpdate) {
        validateRollingUpdate(strategy.rollingUpdate, `${field}.rollingUpdate`, errors);
      } else {
        errors.push(required(`${field}.rollingUpdate`, 'this should be defaulted and never be nil'));
      }
      return;
    default:
      errors.push(
        notSupported(field, { Type: strategy.type ?? '', RollingUpdate: null }, [
          'Recreate',
          'RollingUpdate',
        ]),
      );
  }
}

function validateRollingUpdate(limits: RollingUpdate, field: string, errors: FieldError[]): void {
  const maxUnavailable = limits.maxUnavailable ?? 0;
  const maxSurge = limits.maxSurge ?? 0;
  validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`, errors);
  validateIntOrPercent(maxSurge, `${field}.maxSurge`, errors);
  if (valueOf(maxUnavailable) === 0 && valueOf(maxSurge) === 0) {
    errors.push(invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if (typeof maxUnavailable === 'string' && valueOf(maxUnavailable) > 100) {
    errors.push(invalid(`${field}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%'));
  }
}

function validateIntOrPercent(value: IntOrPercent, field: string, errors: FieldError[]): void {
  if (typeof value === 'number') {
    if (value < 0) errors.push(invalid(field, value, NON_NEGATIVE));
    return;
  }
  for (const problem of checkPercent(value)) errors.push(invalid(field, value, problem));
}

/** The number in it; text that is no percentage counts as 0, and has been refused already. */
function valueOf(value: IntOrPercent): number {
  if (typeof value === 'number') return value;
  return checkPercent(value).length === 0 ? Number.parseInt(value, 10) : 0;
}
