import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { ServiceAccount } from '@rollkeeper/machinery/types/core-v1';
import { ServiceAccount as ServiceAccountKind } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';

export const SERVICE_ACCOUNT_KIND = defineKind<DecodedObject<ServiceAccount>>({
  type: ServiceAccountKind,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ServiceAccount',
  answersDeleted: true,
  shortNames: ['sa'],
  subresources: ['token'],
  ...printed<DecodedObject<ServiceAccount>>(NAME, AGE),
  prepareForCreate: keepNamesOfSecrets,
  prepareForUpdate: keepNamesOfSecrets,
});

/** The name alone says which secret it is. Source: cleanSecretReferences in pkg/registry/core/serviceaccount. */
function keepNamesOfSecrets(account: DecodedObject<ServiceAccount>): void {
  if (account.secrets)
    account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
