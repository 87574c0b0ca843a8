import { delimiter, dirname, resolve, sep } from 'node:path';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { ClusterConnection, TlsMaterial } from './cluster-connection.js';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.js';
import { mergeKubeconfigs, readKubeconfigFile, selectContext } from './kubeconfig-file.js';
import { userCredentials } from './kubeconfig-user.js';
import type { LoadKubeconfigOptions } from './load-kubeconfig.options.js';
import { parseProxyUrl, proxyFromEnvironment } from './proxy.js';
import type { PemSource } from './tls-files.js';
import { TlsFiles } from './tls-files.js';
import { realpathSync } from 'node:fs';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

type Compiled = LoadKubeconfigOptions & Required<Pick<LoadKubeconfigOptions, 'env' | 'logger'>>;

/** The connection that kubeconfig files describe. @throws InvalidOptionError, UnsupportedError: see {@link loadKubeconfig} */
export function kubeconfigConnection(
  paths: readonly string[],
  options: Compiled,
): Promise<ClusterConnection> {
  const config = mergeKubeconfigs(paths.map(readKubeconfigFile));
  return connectionOf(config, options, `kubeconfig ${paths.join(delimiter)}`);
}

async function connectionOf(
  config: Kubeconfig,
  options: Compiled,
  source: string,
): Promise<ClusterConnection> {
  const {
    cluster,
    context,
    name: contextName,
    user,
  } = selectContext(config, { context: options.context, source });
  const userName = context.user ?? '';
  const fields = {
    cluster: `${source}: clusters "${context.cluster}"`,
    user: `${source}: users "${userName}"`,
  };
  if (options.isFound) assertHarmless({ cluster, fields, path: options.path ?? '', user });
  const { clock, env, isTerminal = process.stdin.isTTY, logger } = options;
  const files = tlsFiles(fields, cluster, user, options);
  const ca = files.current.ca as Buffer | undefined;
  const { credentials, plugin } = userCredentials(fields.user, user, {
    ...{ userName, cluster, ca, isTerminal, env, clock, logger },
  });
  // Report a plugin that does not work at startup.
  if (plugin) await credentials.headers();
  const both = memoizedMerge();
  const serverUrl = withoutTrailing(cluster.server, '/');
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

interface FoundContext {
  /** Names of the entries, for errors. */
  readonly fields: { readonly cluster: string; readonly user: string };
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser | undefined;
  /** The file. */
  readonly path: string;
}

/**
 * Checks a kubeconfig that no user has chosen: one that lies in a folder that a command happens to run in. Credentials are sent to
 * the machine itself alone, and nothing outside of the file's folder is read or run.
 * @throws InvalidOptionError naming the field
 */
function assertHarmless({ cluster, fields, path, user }: FoundContext): void {
  const refuse = (field: string, why: string): never => {
    throw new InvalidOptionError(field, `${why}: name the file with --kubeconfig if you trust it`);
  };
  const host = URL.parse(cluster.server)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (host !== 'localhost' && !isLoopbackAddress(host))
    refuse(`${fields.cluster}: server`, 'may only be on this machine in a file that was found');
  if (cluster['proxy-url'])
    refuse(`${fields.cluster}: proxy-url`, 'may not be given by a file that was found');
  if (user?.exec) refuse(`${fields.user}: exec`, 'may not be given by a file that was found');
  if (user?.['auth-provider'])
    refuse(`${fields.user}: auth-provider`, 'may not be given by a file that was found');
  const folder = realpathOf(dirname(resolve(path)));
  const files: [field: string, file: string | null | undefined][] = [
    [`${fields.cluster}: certificate-authority`, cluster['certificate-authority']],
    [`${fields.user}: client-certificate`, user?.['client-certificate']],
    [`${fields.user}: client-key`, user?.['client-key']],
    [`${fields.user}: tokenFile`, user?.tokenFile],
  ];
  for (const [field, file] of files)
    if (file && !realpathOf(file).startsWith(folder + sep))
      refuse(field, 'may only name files beside a file that was found');
}

/** Links are followed; a file that does not exist is reported by its reader. */
function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
