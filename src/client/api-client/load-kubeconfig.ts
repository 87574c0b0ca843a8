import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ClusterConnection, TlsMaterial } from './cluster-connection.js';
import type { LoadKubeconfigOptions } from './load-kubeconfig.options.js';
import { readNamedFileSync } from '@rollkeeper/machinery/files';
import { isIPv6 } from 'node:net';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { TokenFileCredentials } from './credentials.js';
import { proxyFromEnvironment } from './proxy.js';
import { TlsFiles } from './tls-files.js';

/** The folder in which the kubelet mounts a pod's service account. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The connection of a pod to its own cluster, like client-go's `rest.InClusterConfig`.
 * @throws InvalidOptionError outside of a pod
 */
function inClusterConnection(
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

/**
 * Finds the API server in kubectl's order. Supports the same cluster and user settings as kubectl: CA, client
 * certificate, token, token file, password, credential plugins (exec), OIDC, impersonation, proxies. Files may be
 * rotated.
 *
 * The files are parsed here because `@kubernetes/client-node` loads the models of the whole API (80 MB per process) and
 * prefers files to inline data, contrary to kubectl. Its credential plugins neither share one run nor implement most of
 * the protocol, and its OIDC requests a token for every request.
 * @throws InvalidOptionError naming file and field; UnsupportedError naming what is not supported
 */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<ClusterConnection> {
  const env = options.env ?? process.env;
  const logger = options.logger ?? silentLogger;
  const paths = options.path ? [options.path] : kubeconfigPaths(env);
  if (paths.length === 0) return inClusterConnection(env, options.clock, logger);
  // A pod has no such files, and does without what reads them.
  const { kubeconfigConnection } = await import('./kubeconfig-connection.js');
  return kubeconfigConnection(paths, { ...options, env, logger });
}

/**
 * The contexts that can be chosen, in the order of their names.
 * @throws InvalidOptionError naming the file
 */
export async function contextNames(
  path?: string,
  env: LoadKubeconfigOptions['env'] = process.env,
): Promise<readonly string[]> {
  const paths = path === undefined ? kubeconfigPaths(env) : [path];
  const { mergeKubeconfigs, readKubeconfigFile } = await import('./kubeconfig-file.js');
  return [...mergeKubeconfigs(paths.map(readKubeconfigFile)).contexts.keys()].sort();
}

/**
 * The context of {@link loadKubeconfig} as a kubeconfig by itself: `kubectl config view --minify --raw`, with absolute paths. For programs
 * that take a file and no context.
 * @throws InvalidOptionError naming the file, or saying that there is none
 */
export async function contextKubeconfig({
  context,
  env = process.env,
  path,
}: Pick<LoadKubeconfigOptions, 'context' | 'env' | 'path'> = {}): Promise<string> {
  const paths = path === undefined ? kubeconfigPaths(env) : [path];
  if (paths.length === 0)
    throw new InvalidOptionError('kubeconfig', 'KUBECONFIG is not set, and there is no ~/.kube/config');
  const { mergeKubeconfigs, minifiedKubeconfig, readKubeconfigFile } = await import('./kubeconfig-file.js');
  const source = `kubeconfig ${paths.join(delimiter)}`;
  return minifiedKubeconfig(mergeKubeconfigs(paths.map(readKubeconfigFile)), { context, source });
}

/** Whether {@link loadKubeconfig} finds a cluster without a path: by KUBECONFIG, `~/.kube/config` or as a pod. The files are not read. */
export function isClusterConfigured(env: LoadKubeconfigOptions['env'] = process.env): boolean {
  return kubeconfigPaths(env).length > 0 || env['KUBERNETES_SERVICE_HOST'] !== undefined;
}

function kubeconfigPaths(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env['KUBECONFIG']) {
    const paths = env['KUBECONFIG'].split(delimiter).filter((path) => path !== '');
    const existing = paths.filter((path) => existsSync(path));
    // As in kubectl, some of several files may be missing; a single missing file is reported by the reader.
    return existing.length > 0 ? existing : paths.slice(0, 1);
  }
  const path = join(env['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(path) ? [path] : [];
}
