import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { SERVICE_ACCOUNTS } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from './api-client.js';
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
  /** Needs permission to `create` `serviceaccounts/token`. */
  readonly client: Pick<ApiClient, 'create'>;
  readonly serviceAccount: ObjectRef;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Credentials of a service account: tokens for an hour by the TokenRequest API. */
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
    const { status } = await client.create(SERVICE_ACCOUNTS, wish, { subresource: 'token' });
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
