import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ClusterConnection, TlsMaterial } from './cluster-connection.js';
import { inClusterConnection } from './in-cluster.js';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.js';
import { mergeKubeconfigs, readKubeconfigFile } from './kubeconfig-file.js';
import { userCredentials } from './kubeconfig-user.js';
import { parseProxyUrl, proxyFromEnvironment } from './proxy.js';
import type { PemSource } from './tls-files.js';
import { TlsFiles } from './tls-files.js';

export interface LoadKubeconfigOptions {
  /** @default the files in `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  path?: string;
  /** @default the file's current-context */
  context?: string;
  clock: Clock;
  /** @default silent */
  logger?: Logger;
  /** @default process.env */
  env?: Readonly<Record<string, string | undefined>>;
  /** Whether credential plugins may prompt on standard input. @default whether it is a terminal */
  isTerminal?: boolean;
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
  const config = mergeKubeconfigs(paths.map(readKubeconfigFile));
  return connectionOf(config, { ...options, env, logger }, `kubeconfig ${paths.join(delimiter)}`);
}

/**
 * The contexts that can be chosen, in the order of their names.
 * @throws InvalidOptionError naming the file
 */
export function contextNames(
  path?: string,
  env: LoadKubeconfigOptions['env'] = process.env,
): readonly string[] {
  const paths = path === undefined ? kubeconfigPaths(env) : [path];
  return [...mergeKubeconfigs(paths.map(readKubeconfigFile)).contexts.keys()].sort();
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

type Compiled = LoadKubeconfigOptions & Required<Pick<LoadKubeconfigOptions, 'env' | 'logger'>>;

async function connectionOf(
  config: Kubeconfig,
  options: Compiled,
  source: string,
): Promise<ClusterConnection> {
  const contextName = options.context ?? config.currentContext;
  if (!contextName) throw new InvalidOptionError(source, 'current-context is not set');
  const context = config.contexts.get(contextName);
  if (!context) throw new InvalidOptionError(source, `there is no context "${contextName}"`);
  const cluster = config.clusters.get(context.cluster);
  if (!cluster) throw new InvalidOptionError(source, `there is no cluster "${context.cluster}"`);
  const userName = context.user ?? '';
  const user = userName ? config.users.get(userName) : undefined;
  if (userName && !user) throw new InvalidOptionError(source, `there is no user "${userName}"`);

  const fields = {
    cluster: `${source}: clusters "${context.cluster}"`,
    user: `${source}: users "${userName}"`,
  };
  const { clock, env, isTerminal = process.stdin.isTTY, logger } = options;
  const files = tlsFiles(fields, cluster, user, options);
  const ca = files.current.ca as Buffer | undefined;
  const { credentials, plugin } = userCredentials(fields.user, user, {
    ...{ userName, cluster, ca, isTerminal, env, clock, logger },
  });
  // Report a plugin that does not work at startup.
  if (plugin) await credentials.headers();
  const both = memoizedMerge();
  const serverUrl = cluster.server.replace(/\/+$/, '');
  return {
    serverUrl,
    get tls(): TlsMaterial {
      return both(files.current, plugin?.certificate);
    },
    credentials,
    proxyUrl: cluster['proxy-url']
      ? parseProxyUrl(cluster['proxy-url'], `${fields.cluster}: proxy-url`)
      : proxyFromEnvironment(serverUrl, env),
    namespace: context.namespace ?? undefined,
    source: `${source} (context ${contextName})`,
  };
}

function tlsFiles(
  fields: { readonly cluster: string; readonly user: string },
  cluster: KubeconfigCluster,
  user: KubeconfigUser | undefined,
  { clock, logger }: Compiled,
): TlsFiles {
  const ca = pemSource(cluster, 'certificate-authority');
  const cert = user && pemSource(user, 'client-certificate');
  const key = user && pemSource(user, 'client-key');
  const insecureSkipVerify = cluster['insecure-skip-tls-verify'] ?? false;
  if (ca && insecureSkipVerify)
    throw new InvalidOptionError(
      fields.cluster,
      'insecure-skip-tls-verify leaves certificate-authority without use',
    );
  if (cert && !key) throw new InvalidOptionError(fields.user, 'client-certificate without client-key');
  if (key && !cert) throw new InvalidOptionError(fields.user, 'client-key without client-certificate');
  const names = {
    ca: `${fields.cluster}: certificate-authority`,
    cert: `${fields.user}: client-certificate`,
    key: `${fields.user}: client-key`,
  };
  const fixed = { serverName: cluster['tls-server-name'] ?? undefined, insecureSkipVerify };
  return new TlsFiles({ sources: { ca, cert, key }, names, fixed, clock, logger });
}

/** Inline data overrides the file, as in client-go's `rest.Config`. */
function pemSource<Name extends string>(
  from: { [F in Name | `${Name}-data`]?: string | null },
  name: Name,
): PemSource | undefined {
  const data = from[`${name}-data`];
  if (data) return { data: Buffer.from(data, 'base64') };
  const path = from[name];
  return path ? { path } : undefined;
}

/** Returns the same object for the same inputs, because a new object means new connections. */
function memoizedMerge(): (a: TlsMaterial, b: Partial<TlsMaterial> | undefined) => TlsMaterial {
  let last: { a: TlsMaterial; b: Partial<TlsMaterial> | undefined; both: TlsMaterial } | undefined;
  return (a, b) => {
    if (last?.a !== a || last.b !== b) last = { a, b, both: b ? { ...a, ...b } : a };
    return last.both;
  };
}
