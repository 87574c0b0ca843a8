import { existsSync } from 'node:fs';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, UnsupportedError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { CredentialHeaders, Credentials, TlsMaterial } from './cluster-connection.js';
import {
  TokenFileCredentials,
  basicAuth,
  bearerToken,
  fixedCredentials,
  impersonation,
  withHeaders,
  bearer,
} from './credentials.js';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.js';
import { writeOidcTokens } from './kubeconfig-file.js';
import { OidcCredentials } from './oidc-credentials.js';
import { X509Certificate } from 'node:crypto';
import type { ExecPluginOptions } from './exec-plugin.js';
import { runExecPlugin } from './exec-plugin.js';
import type { Issued } from './renewed-credentials.js';
import { RenewedCredentials } from './renewed-credentials.js';

/**
 * Credentials from a client-go credential plugin: a token, a client certificate, or both. The answer is cached until it
 * expires or the server refuses it; then the plugin runs again.
 */
class ExecCredentials implements Credentials {
  private readonly issued: RenewedCredentials;
  private newest: Pick<TlsMaterial, 'cert' | 'key'> | undefined;

  constructor(
    private readonly userName: string,
    private readonly plugin: ExecPluginOptions,
    clock: Clock,
  ) {
    this.issued = new RenewedCredentials(() => this.run(), clock);
  }

  /** The client certificate of the newest answer, if it had one; the same object until there is a newer one. */
  get certificate(): Pick<TlsMaterial, 'cert' | 'key'> | undefined {
    return this.newest;
  }

  headers(): Promise<CredentialHeaders> {
    return this.issued.headers();
  }

  invalidate(refused: CredentialHeaders): boolean {
    return this.issued.invalidate(refused);
  }

  private async run(): Promise<Issued> {
    try {
      const { certificate, expiresAtMs, token } = await runExecPlugin(this.plugin);
      const isNew = certificate?.cert !== this.newest?.cert || certificate?.key !== this.newest?.key;
      if (isNew) this.newest = certificate;
      return {
        headers: token ? bearer(token) : {},
        renewAtMs: Math.min(expiresAtMs ?? Infinity, certificate ? endOf(certificate.cert) : Infinity),
      };
    } catch (error) {
      throw new Error(`users "${this.userName}": exec: ${errorMessage(error)}`, { cause: error });
    }
  }
}

/** Expiry of a certificate, milliseconds since the epoch; many plugins do not report it. */
function endOf(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime();
}

interface UserContext {
  readonly userName: string;
  readonly cluster: KubeconfigCluster;
  /** CA of the cluster, for plugins that ask for it. */
  readonly ca: Buffer | undefined;
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface UserCredentials {
  readonly credentials: Credentials;
  /** The plugin that provides client certificates, if any. */
  readonly plugin?: ExecCredentials;
}

/** Extension of a cluster entry that is passed to its plugins. */
const PLUGIN_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * The credentials of a kubeconfig user.
 * @throws InvalidOptionError naming the field, also if several methods conflict (as in kubectl); UnsupportedError for
 *   providers that Kubernetes has removed
 */
export function userCredentials(
  field: string,
  user: KubeconfigUser | undefined,
  context: UserContext,
): UserCredentials {
  if (!user) return { credentials: fixedCredentials({}) };
  refuseContradictions(field, user);
  const more = impersonationHeaders(field, user);
  const wrap = (plain: Credentials): Credentials => (more ? withHeaders(plain, more) : plain);
  if (!user.exec) return { credentials: wrap(plainCredentials(field, user, context)) };
  const cluster = pluginCluster(context);
  const { clock, isTerminal, userName } = context;
  const plugin = new ExecCredentials(userName, { config: user.exec, cluster, isTerminal }, clock);
  return { credentials: wrap(plugin), plugin };
}

function refuseContradictions(field: string, user: KubeconfigUser): void {
  const isPassword = Boolean(user.username ?? user.password);
  if (isPassword && (user.token ?? user.tokenFile))
    throw new InvalidOptionError(field, 'has both a token and a password, and only one can be sent');
  if (user.exec && user['auth-provider'])
    throw new InvalidOptionError(field, 'has both exec and auth-provider, and only one can be asked');
  const provider = user['auth-provider']?.name;
  if (provider && provider !== 'oidc')
    throw new UnsupportedError(`${field}: auth-provider ${provider} is not supported`);
}

function impersonationHeaders(field: string, user: KubeconfigUser): CredentialHeaders | undefined {
  const { as, 'as-groups': groups, 'as-uid': uid, 'as-user-extra': extra } = user;
  const more = {
    'as-uid': uid,
    'as-groups': groups?.length,
    'as-user-extra': extra && Object.keys(extra)[0],
  };
  if (!as) {
    const [name] = Object.entries(more).find(([, value]) => value) ?? [];
    if (name) throw new InvalidOptionError(`${field}: ${name}`, 'has no effect without as');
    return undefined;
  }
  return impersonation({
    username: as,
    uid: uid ?? undefined,
    groups: groups ?? undefined,
    extra: extra ?? undefined,
  });
}

function plainCredentials(field: string, user: KubeconfigUser, context: UserContext): Credentials {
  const { clock, env, logger, userName } = context;
  if (user['auth-provider']) {
    const { config } = user['auth-provider'];
    const persist = (tokens: Parameters<typeof writeOidcTokens>[2]): void => {
      try {
        writeOidcTokens(user.origin, userName, tokens);
      } catch (error) {
        // For example, a kubeconfig mounted from a Secret: works until the next start, if the provider then accepts the
        // old token again.
        logger.warn('refreshed OIDC tokens could not be kept', { reason: errorMessage(error) });
      }
    };
    return new OidcCredentials({ field, config, persist, env, clock });
  }
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

/** `Cluster` of the plugin's protocol. */
function pluginCluster({ ca, cluster }: UserContext): unknown {
  const extension = cluster.extensions?.find(({ name }) => name === PLUGIN_EXTENSION)?.extension;
  return {
    server: cluster.server,
    ...(cluster['tls-server-name'] && { 'tls-server-name': cluster['tls-server-name'] }),
    ...(cluster['insecure-skip-tls-verify'] && { 'insecure-skip-tls-verify': true }),
    ...(ca && { 'certificate-authority-data': ca.toString('base64') }),
    ...(cluster['proxy-url'] && { 'proxy-url': cluster['proxy-url'] }),
    ...(extension !== undefined && { config: extension }),
  };
}
