import type { DecodedObject, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, Subresource } from '../../kind-definition.js';
import { validateSelectorAndTemplate } from '../../pod-template/validate-template.js';
import { invalid } from '../../validation/field-errors.js';
import { shownSelector } from '../../validation/labels.js';
import { validateNonNegative, validateReplicaCounts } from '../../validation/numbers.js';

const STATUS_NUMBERS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'terminatingReplicas',
  'observedGeneration',
] as const;

/** Source: ValidateReplicaSetSpec in pkg/apis/apps/validation/validation.go. */
export function validateReplicaSet(
  { spec = {} }: DecodedObject<ReplicaSet>,
  errors: FieldError[],
  old?: DecodedObject<ReplicaSet>,
): void {
  validateNonNegative(spec, ['replicas', 'minReadySeconds'], 'spec', errors);
  validateSelectorAndTemplate(spec, 'deployment', errors, old?.spec);
}

export function validateReplicaSetUpdate(
  replicaSet: DecodedObject<ReplicaSet>,
  old: DecodedObject<ReplicaSet>,
  subresource: Subresource,
  errors: FieldError[],
): void {
  if (subresource === 'status') {
    const status = replicaSet.status ?? { replicas: 0 };
    validateNonNegative(status, STATUS_NUMBERS, 'status', errors);
    validateReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], errors);
    return;
  }
  validateReplicaSet(replicaSet, errors, old);
  if (!sameMeaning(replicaSet.spec?.selector, old.spec?.selector)) {
    errors.push(invalid('spec.selector', shownSelector(replicaSet.spec?.selector), FIELD_IMMUTABLE));
  }
}
