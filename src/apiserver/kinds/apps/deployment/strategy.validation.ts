import type { Decoded, DeploymentSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { internalForm } from '../../validation/internal-form.js';
import { numberIn, validateIntOrPercent, validateNotAboveAll } from '../../validation/quantities.js';

type Strategy = NonNullable<Decoded<DeploymentSpec>['strategy']>;
type RollingUpdate = NonNullable<Strategy['rollingUpdate']>;

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
        notSupported(field, internalForm('apps.DeploymentStrategy', strategy), ['Recreate', 'RollingUpdate']),
      );
  }
}

function validateRollingUpdate(limits: RollingUpdate, field: string, errors: FieldError[]): void {
  const maxUnavailable = limits.maxUnavailable ?? 0;
  const maxSurge = limits.maxSurge ?? 0;
  validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`, errors);
  validateIntOrPercent(maxSurge, `${field}.maxSurge`, errors);
  if (numberIn(maxUnavailable) === 0 && numberIn(maxSurge) === 0) {
    errors.push(invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  validateNotAboveAll(maxUnavailable, `${field}.maxUnavailable`, errors);
}
