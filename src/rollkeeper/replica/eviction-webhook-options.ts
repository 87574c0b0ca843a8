import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { WebhookServerOptions } from '@rollkeeper/webhooks';
import { parseWebhookAddress } from './eviction-webhook/index.js';
import type { CheckedReplicaOptions } from './replica-options.table.js';

const OWN_CONFIGURATION = 'rollkeeper-evictions';

/** @throws InvalidOptionError naming the option */
export function decideEvictionWebhook(compiled: CheckedReplicaOptions): WebhookServerOptions | undefined {
  const address = compiled['eviction-webhook'];
  if (address === undefined) return undefined;
  const reachedAt = parseWebhookAddress(address, 'eviction-webhook');
  const installed = compiled['eviction-webhook-configuration'];
  const configurationName = installed ?? OWN_CONFIGURATION;
  return {
    reachedAt,
    port: compiled['eviction-webhook-port'],
    certificates: certificatesOf(compiled),
    secret: { name: `${configurationName}-tls` },
    configurations: installed === undefined ? 'apply' : 'patch',
    configurationName,
  };
}

/** @throws InvalidOptionError if only one of the two files is named */
function certificatesOf(compiled: CheckedReplicaOptions): WebhookServerOptions['certificates'] {
  const [certFile, keyFile] = [
    compiled['eviction-webhook-tls-cert-file'],
    compiled['eviction-webhook-tls-private-key-file'],
  ];
  if (certFile === undefined && keyFile === undefined) return 'managed';
  if (certFile === undefined || keyFile === undefined)
    throw new InvalidOptionError(
      `eviction-webhook-tls-${certFile === undefined ? 'cert' : 'private-key'}-file`,
      'goes together with the other file of the certificate',
    );
  return { certFile, keyFile };
}
