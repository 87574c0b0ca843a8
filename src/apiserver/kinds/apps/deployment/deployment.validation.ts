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
import { invalid } from '../../validation/field-errors.js';
import { shownSelector } from '../../validation/labels.js';
import { validateCollisions, validateNonNegative, validateReplicaCounts } from '../../validation/numbers.js';
import { validateStrategy } from './strategy.validation.js';

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
