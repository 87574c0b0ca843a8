import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { SERVICE_ACCOUNTS } from '../../../kubernetes/index.js';
import { AGE_COLUMN, NAME_COLUMN, column } from '../common/columns.js';
import { ageSince } from '../common/human-duration.js';
import { defineKind } from '../define-kind.js';

export const SERVICE_ACCOUNT_KIND = defineKind({
  type: SERVICE_ACCOUNTS,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ServiceAccount',
  shortNames: ['sa'],
  columns: [NAME_COLUMN, column('Secrets', 'How many secrets its pods may use.'), AGE_COLUMN],
  toRow: (object, nowMs) => [
    object.metadata.name,
    (object as unknown as IServiceAccount).secrets?.length ?? 0,
    ageSince(object.metadata.creationTimestamp, nowMs),
  ],
});
