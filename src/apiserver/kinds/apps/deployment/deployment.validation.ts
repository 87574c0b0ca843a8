import type {
  Decoded,
  DecodedObject,
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
} from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, Subresource } from '../../kind-definition.js';
import { validateSelectorAndTemplate } from '../../pod-template/validate-template.js';
import { invalid, forbidden, notSupported, required } from '../../validation/field-errors.js';
import { shownSelector } from '../../validation/labels.js';
import { validateCollisions, validateNonNegative, validateReplicaCounts } from '../../validation/numbers.js';
import { internalForm } from '../../validation/internal-form.js';
import { numberIn, validateIntOrPercent, validateNotAboveAll } from '../../validation/quantities.js';

const STATUS_NUMBERS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'terminatingReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'collisionCount',
] as const;

/** Source: ValidateDeploymentSpec in pkg/apis/apps/validation/validation.go. */
export function validateDeployment(
  { spec = {} }: DecodedObject<Deployment>,
  errors: FieldError[],
  old?: DecodedObject<Deployment>,
): void {
  validateNonNegative(spec, ['replicas'], 'spec', errors);
  validateSelectorAndTemplate(spec, 'deployment', errors, old?.spec);
  validateStrategy(spec.strategy ?? {}, 'spec.strategy', errors);
  validateNonNegative(
    spec,
    ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'],
    'spec',
    errors,
  );
  validateDeadline(spec, errors);
}

function validateDeadline(spec: Decoded<DeploymentSpec>, errors: FieldError[]): void {
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined || deadline > (spec.minReadySeconds ?? 0)) return;
  errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
}

export function validateDeploymentUpdate(
  deployment: DecodedObject<Deployment>,
  old: DecodedObject<Deployment>,
  subresource: Subresource,
  errors: FieldError[],
): void {
  if (subresource === 'status') {
    validateStatus(deployment.status ?? {}, old.status ?? {}, errors);
    return;
  }
  validateDeployment(deployment, errors, old);
  if (!sameMeaning(deployment.spec?.selector, old.spec?.selector)) {
    errors.push(invalid('spec.selector', shownSelector(deployment.spec?.selector), FIELD_IMMUTABLE));
  }
}

function validateStatus(
  status: Decoded<DeploymentStatus>,
  old: Decoded<DeploymentStatus>,
  errors: FieldError[],
): void {
  validateNonNegative(status, STATUS_NUMBERS, 'status', errors);
  validateReplicaCounts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], errors);
  validateCollisions(status, old, errors);
}

type Strategy = NonNullable<Decoded<DeploymentSpec>['strategy']>;
type RollingUpdate = NonNullable<Strategy['rollingUpdate']>;

/** Source: ValidateDeploymentStrategy in pkg/apis/apps/validation/validation.go. */
function validateStrategy(strategy: Strategy, field: string, errors: FieldError[]): void {
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
