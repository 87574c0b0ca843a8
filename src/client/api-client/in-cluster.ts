import { existsSync } from 'node:fs';
import { readNamedFileSync } from '@rollkeeper/machinery/files';
import { isIPv6 } from 'node:net';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClusterConnection, TlsMaterial } from './cluster-connection.js';
import { TokenFileCredentials } from './credentials.js';
import { proxyFromEnvironment } from './proxy.js';
import { TlsFiles } from './tls-files.js';

/** The folder in which the kubelet mounts a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The connection of a pod to its own cluster, like client-go's `rest.InClusterConfig`.
 * @throws InvalidOptionError outside of a pod
 */
export function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  logger: Logger,
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
  const serverUrl = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const ca = existsSync(`${folder}/ca.crt`) ? { path: `${folder}/ca.crt` } : undefined;
  const names = { ca: 'in-cluster: ca.crt', cert: '', key: '' };
  const files = new TlsFiles({ sources: { ca }, names, fixed: {}, clock, logger });
  return {
    serverUrl,
    get tls(): TlsMaterial {
      return files.current;
    },
    credentials: new TokenFileCredentials(`${folder}/token`, clock),
    proxyUrl: proxyFromEnvironment(serverUrl, env),
    namespace: existsSync(namespaceFile)
      ? readNamedFileSync(namespaceFile).toString('utf8').trim()
      : undefined,
    source: 'in-cluster',
  };
}
