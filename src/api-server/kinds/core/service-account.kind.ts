import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { SERVICE_ACCOUNTS } from '../../../base/kubernetes/index.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';

export const SERVICE_ACCOUNT_KIND = defineKind({
  type: SERVICE_ACCOUNTS,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ServiceAccount',
  shortNames: ['sa'],
  subresources: ['token'],
  ...printed<IServiceAccount>(
    NAME,
    shown('Secrets', 'How many secrets its pods may use.', ({ secrets }) => secrets?.length ?? 0),
    AGE,
  ),
});
