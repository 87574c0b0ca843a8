import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { untyped, Namespace, ServiceAccount } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from './api-client.js';
import { isAlreadyExists, isNotFound } from './api-status-error.js';
import type { ClusterConnection, Credentials, TlsMaterial } from './cluster-connection.js';
import { bearer } from './credentials.js';
import type { Issued } from './renewed-credentials.js';
import { RenewedCredentials } from './renewed-credentials.js';

/** Requested lifetime of a token; the API server may choose another. */
const EXPIRATION_SECONDS = 3600;
/** Renew after this share of the lifetime, or slightly earlier: jitter spreads the renewals. */
const RENEW_AT = 0.8;
const JITTER = 0.1;

interface TokenRequest extends KubernetesObject {
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

export interface ServiceAccountCredentialsOptions {
  /** Needs permission to `create` `serviceaccounts/token`, and `serviceaccounts` if the account may be missing. */
  readonly client: Pick<ApiClient, 'create'>;
  readonly serviceAccount: ObjectRef;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * Credentials of a service account: tokens for an hour by the TokenRequest API. An account that is missing, and its
 * namespace, are created first, as by kube-controller-manager (`DynamicControllerClientBuilder` of client-go).
 */
export function serviceAccountCredentials(options: ServiceAccountCredentialsOptions): Credentials {
  return new RenewedCredentials(() => requestToken(options), options.clock);
}

async function requestToken(options: ServiceAccountCredentialsOptions): Promise<Issued> {
  const { client, clock, random, serviceAccount } = options;
  const { name, namespace } = serviceAccount;
  const wish: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name, namespace },
    spec: { expirationSeconds: EXPIRATION_SECONDS },
  };
  const askedAtMs = clock.now();
  try {
    const ask = () => client.create<TokenRequest>(untyped(ServiceAccount), wish, { subresource: 'token' });
    const { status } = await ask().catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await createAccount(options);
      return ask();
    });
    const expiresAtMs = Date.parse(status?.expirationTimestamp ?? '');
    if (!status?.token || Number.isNaN(expiresAtMs))
      throw new Error('the answer has no token with an expiry');
    const share = RENEW_AT - JITTER * random.next();
    const renewAtMs = askedAtMs + (expiresAtMs - askedAtMs) * share;
    return { headers: bearer(status.token), renewAtMs, expiresAtMs };
  } catch (error) {
    throw new Error(`no token for the service account ${namespace}/${name}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Whether the namespace is there shows when the account is created: the replica may have no right to either. */
async function createAccount({ client, serviceAccount }: ServiceAccountCredentialsOptions): Promise<void> {
  const { name, namespace = '' } = serviceAccount;
  const create = () =>
    client
      .create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
      .catch(unlessThere);
  await create().catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await client
      .create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      .catch(unlessThere);
    await create();
  });
}

/** Another replica may have been faster. */
function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** The same server and route with other credentials, without the client certificate, which would override them. */
export function connectionFor(connection: ClusterConnection, credentials: Credentials): ClusterConnection {
  let last: { readonly of: TlsMaterial; readonly bare: TlsMaterial } | undefined;
  const { namespace, proxyUrl, serverUrl, source } = connection;
  return {
    ...{ namespace, proxyUrl, serverUrl, source, credentials },
    get tls(): TlsMaterial {
      const { tls } = connection;
      if (last?.of !== tls) last = { of: tls, bare: { ...tls, cert: undefined, key: undefined } };
      return last.bare;
    },
  };
}
