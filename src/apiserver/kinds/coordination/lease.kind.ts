import { Lease, NON_NEGATIVE } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE_COLUMN, NAME_COLUMN, column } from '../common/columns.js';
import { ageSince } from '../common/human-duration.js';
import { defineKind } from '../define-kind.js';
import { invalid } from '../validation/field-errors.js';

/** Fields of a feature that is off by default. */
interface CoordinatedElection {
  strategy?: unknown;
  preferredHolder?: unknown;
}

/** Source: ValidateLeaseSpec in pkg/apis/coordination/validation. */
export const LEASE_KIND = defineKind<DecodedObject<Lease>>({
  type: Lease,
  finalizerNames: 'any',
  schema: 'io.k8s.api.coordination.v1.Lease',
  columns: [NAME_COLUMN, column('Holder'), AGE_COLUMN],
  toRow: (object, nowMs) => [
    object.metadata.name,
    object.spec?.holderIdentity ?? '',
    ageSince(object.metadata.creationTimestamp, nowMs),
  ],
  createsOnUpdate: true,
  needsVersionOnUpdate: true,
  applyDefaults(object) {
    const spec = (object.spec ??= {}) as typeof object.spec & CoordinatedElection;
    delete spec.strategy;
    delete spec.preferredHolder;
  },
  validate(object, errors) {
    const { leaseDurationSeconds: duration, leaseTransitions: transitions } = object.spec ?? {};
    if (duration !== undefined && duration <= 0) {
      errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
    }
    if (transitions !== undefined && transitions < 0) {
      errors.push(invalid('spec.leaseTransitions', transitions, NON_NEGATIVE));
    }
  },
});
