import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Clock } from '../clock/index.js';
import { InvalidOptionError, UnsupportedError, errorMessage } from '../errors/index.js';
import type { ClusterConnection, Credentials, TlsMaterial } from './cluster-connection.js';
import {
  TokenFileCredentials,
  basicAuth,
  bearerToken,
  fixedCredentials,
  withHeaders,
} from './credentials.js';
import { inClusterConnection } from './in-cluster.js';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.js';
import { mergeKubeconfigs, readKubeconfigFile } from './kubeconfig-file.js';
import { ExecCredentials, OidcCredentials } from './plugin-credentials.js';

export interface LoadKubeconfigOptions {
  /** @default the files of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  path?: string;
  /** @default the file's current-context */
  context?: string;
  clock: Clock;
  /** @default process.env */
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds out where the API server is, in kubectl's order. Understands what kubectl does of a cluster and a user:
 * CA, client certificate, token, token file, password, credential plugins (exec), OIDC, impersonation of a user.
 *
 * The files are parsed here rather than by client-node's `KubeConfig`, because that loads the models of the whole
 * API: 80 MB for every process, and it prefers files to inline data, contrary to kubectl. Its credential plugins
 * are used.
 * @throws InvalidOptionError naming file and field; UnsupportedError naming what we do not have
 */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<ClusterConnection> {
  const env = options.env ?? process.env;
  const paths = options.path ? [options.path] : kubeconfigPaths(env);
  if (paths.length === 0) return inClusterConnection(env, options.clock);
  const config = mergeKubeconfigs(paths.map(readKubeconfigFile));
  return connectionOf(config, options, `kubeconfig ${paths.join(delimiter)}`);
}

function kubeconfigPaths(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env['KUBECONFIG']) {
    const paths = env['KUBECONFIG'].split(delimiter).filter((path) => path !== '');
    const existing = paths.filter((path) => existsSync(path));
    // As for kubectl, some of several may be missing; of a single one the reader says so.
    return existing.length > 0 ? existing : paths.slice(0, 1);
  }
  const path = join(env['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(path) ? [path] : [];
}

async function connectionOf(
  config: Kubeconfig,
  options: LoadKubeconfigOptions,
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

  refuseUnsupported(source, context.cluster, cluster, userName, user);
  const clusterField = `${source}: clusters "${context.cluster}"`;
  const userField = `${source}: users "${userName}"`;
  const { credentials, certificate } = await credentialsOf(userField, userName, user, options.clock);
  return {
    serverUrl: cluster.server.replace(/\/+$/, ''),
    tls: { ...serverTls(clusterField, cluster), ...clientTls(userField, user), ...certificate },
    credentials,
    namespace: context.namespace ?? undefined,
    source: `${source} (context ${contextName})`,
  };
}

function refuseUnsupported(
  source: string,
  clusterName: string,
  cluster: KubeconfigCluster,
  userName: string,
  user: KubeconfigUser | undefined,
): void {
  const refuse = (field: string): never => {
    throw new UnsupportedError(`${source}: ${field} is not supported`);
  };
  if (cluster['proxy-url']) refuse(`clusters "${clusterName}": proxy-url`);
  for (const field of ['as-uid', 'as-groups', 'as-user-extra'] as const) {
    if (user?.[field]) refuse(`users "${userName}": ${field}`);
  }
  const provider = user?.['auth-provider']?.name;
  if (provider && provider !== 'oidc') refuse(`users "${userName}": auth-provider ${provider}`);
}

function serverTls(field: string, cluster: KubeconfigCluster): TlsMaterial {
  return {
    ca: pem(field, cluster, 'certificate-authority'),
    serverName: cluster['tls-server-name'] ?? undefined,
    insecureSkipVerify: cluster['insecure-skip-tls-verify'] ?? false,
  };
}

function clientTls(field: string, user: KubeconfigUser | undefined): TlsMaterial {
  if (!user) return {};
  const cert = pem(field, user, 'client-certificate');
  const key = pem(field, user, 'client-key');
  if (cert && !key) throw new InvalidOptionError(field, 'client-certificate without client-key');
  if (key && !cert) throw new InvalidOptionError(field, 'client-key without client-certificate');
  return { cert, key };
}

/** Inline data overrides the file, as in client-go's `rest.Config`. */
function pem<Name extends string>(
  field: string,
  from: { [F in Name | `${Name}-data`]?: string | null },
  name: Name,
): Buffer | undefined {
  const data = from[`${name}-data`];
  if (data) return Buffer.from(data, 'base64');
  const path = from[name];
  if (!path) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new InvalidOptionError(`${field}: ${name}`, errorMessage(error), { cause: error });
  }
}

interface UserCredentials {
  readonly credentials: Credentials;
  readonly certificate?: Pick<TlsMaterial, 'cert' | 'key'>;
}

async function credentialsOf(
  field: string,
  userName: string,
  user: KubeconfigUser | undefined,
  clock: Clock,
): Promise<UserCredentials> {
  if (!user) return { credentials: fixedCredentials({}) };
  const impersonation = user.as ? { 'impersonate-user': user.as } : undefined;
  const wrap = (plain: Credentials): Credentials =>
    impersonation ? withHeaders(plain, impersonation) : plain;
  if (user.exec) {
    const exec = new ExecCredentials(userName, user.exec);
    const { cert, key } = await exec.clientCertificate();
    return { credentials: wrap(exec), certificate: cert ? { cert, key } : undefined };
  }
  return { credentials: wrap(plainCredentials(field, userName, user, clock)) };
}

function plainCredentials(field: string, userName: string, user: KubeconfigUser, clock: Clock): Credentials {
  if (user['auth-provider']) return new OidcCredentials(userName, user['auth-provider']);
  if (user.tokenFile) {
    if (!existsSync(user.tokenFile)) {
      throw new InvalidOptionError(`${field}: tokenFile`, `${user.tokenFile} does not exist`);
    }
    return new TokenFileCredentials(user.tokenFile, clock);
  }
  if (user.token) return bearerToken(user.token);
  if (user.username) return basicAuth(user.username, user.password ?? '');
  return fixedCredentials({});
}
