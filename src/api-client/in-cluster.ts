import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { Clock } from '../clock/index.js';
import { InvalidOptionError } from '../errors/index.js';
import type { ClusterConnection } from './cluster-connection.js';
import { TokenFileCredentials } from './credentials.js';

/** Where the kubelet puts a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The connection of a pod to its own cluster, as client-go's `rest.InClusterConfig` makes it.
 * @throws InvalidOptionError outside of a pod
 */
export function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  folder = SERVICE_ACCOUNT,
): ClusterConnection {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port || !existsSync(`${folder}/token`)) {
    throw new InvalidOptionError(
      'kubeconfig',
      'none was given, there is no ~/.kube/config, and this is not a pod with a service account',
    );
  }
  const namespaceFile = `${folder}/namespace`;
  return {
    serverUrl: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    tls: { ca: existsSync(`${folder}/ca.crt`) ? readFileSync(`${folder}/ca.crt`) : undefined },
    credentials: new TokenFileCredentials(`${folder}/token`, clock),
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : undefined,
    source: 'in-cluster',
  };
}
