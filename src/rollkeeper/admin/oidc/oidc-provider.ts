import type * as OpenIdClient from 'openid-client';
import type { Dispatcher } from 'undici';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpectedError, errorMessage } from '@rollkeeper/machinery/errors';
import { readNamedSecret } from '@rollkeeper/machinery/files';
import { agentTrusting } from '@rollkeeper/tls';
import type { OidcOptions } from './oidc-options.js';
import type { Claims } from './user-of-claims.js';

/** The identity provider does not answer, or not sensibly. */
export class ProviderUnavailableError extends ExpectedError {}

/** The identity provider refuses, or its answer is not acceptable. */
export class SignInRefusedError extends ExpectedError {}

/** The secrets that a sign-in has to come back with. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The verifier of PKCE. */
  readonly verifier: string;
}

/** The tokens that the provider has issued, checked. */
export interface Issued {
  readonly idToken: string;
  readonly claims: Claims;
  readonly expiresMs: number;
  readonly refreshToken?: string;
}

/** The identity provider, for one client. */
export interface IdentityProvider {
  /** New secrets, and the address at which a person signs in with them. */
  begin(): Promise<{ readonly secrets: SignInSecrets; readonly address: string }>;
  /** @param answer the query with which the provider has sent the browser back */
  redeem(answer: string, secrets: SignInSecrets): Promise<Issued>;
  refresh(refreshToken: string): Promise<Issued>;
  /** Makes a refresh token useless, where the provider can. */
  revoke(refreshToken: string): Promise<void>;
  close(): Promise<void>;
}

const TIMEOUT_SECONDS = 5;
/** Codes of `openid-client` for a provider that is too slow, or answers with an error of its own. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
]);
const LONGEST_DESCRIPTION = 300;
/**
 * The time for which the provider's own description is kept: it changes rarely, and its keys are looked up by
 * themselves.
 */
const DISCOVERED_LASTS_MS = 10 * 60_000;

interface Discovered {
  readonly untilMs: number;
  readonly metadata: Promise<OpenIdClient.ServerMetadata>;
}

/**
 * The provider by `openid-client`: discovery, authorization code with PKCE, and every ID token with its signature by the
 * published keys, issuer, audience, expiry and nonce.
 */
export class OpenIdProvider implements IdentityProvider {
  private discovered: Discovered | undefined;
  private keys: OpenIdClient.ExportedJWKSCache | undefined;
  private agent: Dispatcher | undefined;

  constructor(
    private readonly options: OidcOptions,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async begin(): Promise<{ readonly secrets: SignInSecrets; readonly address: string }> {
    return this.use(async (oidc, configuration) => {
      const secrets = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: this.options.redirectUri,
        scope: this.options.scopes.join(' '),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      });
      return { secrets, address: address.href };
    });
  }

  async redeem(answer: string, { nonce, state, verifier }: SignInSecrets): Promise<Issued> {
    const url = new URL(this.options.redirectUri);
    url.search = answer;
    return this.use(async (oidc, configuration) => {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return issuedIn(tokens);
    });
  }

  async refresh(refreshToken: string): Promise<Issued> {
    return this.use(async (oidc, configuration) => {
      const tokens = await oidc.refreshTokenGrant(configuration, refreshToken);
      // Providers that do not rotate them send none along.
      return { refreshToken, ...issuedIn(tokens) };
    });
  }

  async revoke(refreshToken: string): Promise<void> {
    await this.use(async (oidc, configuration) => {
      if (configuration.serverMetadata().revocation_endpoint === undefined) return;
      await oidc.tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
    });
  }

  async close(): Promise<void> {
    await this.agent?.close();
  }

  private async use<T>(
    does: (oidc: typeof OpenIdClient, configuration: OpenIdClient.Configuration) => Promise<T>,
  ): Promise<T> {
    // Loaded at the first sign-in.
    const oidc = await import('openid-client');
    try {
      const configuration = await this.configurationFor(oidc);
      try {
        return await does(oidc, configuration);
      } finally {
        this.keys = oidc.getJwksCache(configuration);
      }
    } catch (error) {
      throw asSignInError(oidc, error);
    }
  }

  /** Created for each use: the secret may have been replaced. What was discovered is kept for a while. */
  private async configurationFor(oidc: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const metadata = await this.discover(oidc);
    const { clientId } = this.options;
    const skew = Math.round((this.clock.now() - new SystemClock().now()) / 1000);
    const client = { [oidc.clockSkew]: skew };
    const configuration = new oidc.Configuration(
      metadata,
      clientId,
      client,
      this.authentication(oidc, metadata),
    );
    configuration[oidc.customFetch] = this.fetch();
    configuration.timeout = TIMEOUT_SECONDS;
    oidc.enableNonRepudiationChecks(configuration);
    if (this.keys) oidc.setJwksCache(configuration, this.keys);
    if (this.isPlain()) oidc.allowInsecureRequests(configuration);
    return configuration;
  }

  private discover(oidc: typeof OpenIdClient): Promise<OpenIdClient.ServerMetadata> {
    const nowMs = this.clock.now();
    if (this.discovered && nowMs < this.discovered.untilMs) return this.discovered.metadata;
    const { claims, clientId } = this.options;
    const metadata = oidc
      .discovery(new URL(claims.issuerUrl), clientId, undefined, oidc.None(), {
        execute: this.isPlain() ? [oidc.allowInsecureRequests] : [],
        timeout: TIMEOUT_SECONDS,
        [oidc.customFetch]: this.fetch(),
      })
      .then((found) => found.serverMetadata());
    const discovered = { metadata, untilMs: nowMs + DISCOVERED_LASTS_MS };
    this.discovered = discovered;
    metadata.catch(() => {
      if (this.discovered === discovered) this.discovered = undefined;
    });
    return metadata;
  }

  private authentication(
    oidc: typeof OpenIdClient,
    { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: OpenIdClient.ServerMetadata,
  ): OpenIdClient.ClientAuth {
    const { clientSecretFile } = this.options;
    if (clientSecretFile === undefined) return oidc.None();
    const secret = readNamedSecret(clientSecretFile).trim();
    return methods.includes('client_secret_basic')
      ? oidc.ClientSecretBasic(secret)
      : oidc.ClientSecretPost(secret);
  }

  private isPlain(): boolean {
    return this.options.claims.issuerUrl.startsWith('http:');
  }

  /** Trusts the provider's own authority, and follows no redirects. */
  private fetch(): OpenIdClient.CustomFetch {
    return async (url, { body, headers, method, signal }) => {
      const { fetch } = await import('undici');
      const response = await fetch(url, {
        ...{ method, headers, redirect: 'manual', dispatcher: this.connections() },
        ...(signal && { signal }),
        body: body instanceof URLSearchParams ? body.toString() : body,
      });
      const answer = await readBounded(response.body);
      const { headers: answered, status } = response;
      return new Response(answer, { status, headers: Object.fromEntries(answered) });
    };
  }

  private connections(): Dispatcher {
    return (this.agent ??= agentTrusting(this.options.caFile));
  }
}

function issuedIn(
  tokens: OpenIdClient.TokenEndpointResponse & OpenIdClient.TokenEndpointResponseHelpers,
): Issued {
  const claims = tokens.claims();
  if (tokens.id_token === undefined || claims === undefined)
    throw new SignInRefusedError('the identity provider has sent no ID token');
  return {
    idToken: tokens.id_token,
    claims,
    expiresMs: claims.exp * 1000,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
  };
}

/** The longest answer of a provider: its description, its keys and a token are a fraction of it. Bytes. */
const MOST_BYTES = 1024 * 1024;

async function readBounded(body: AsyncIterable<Uint8Array> | null): Promise<Buffer<ArrayBuffer> | null> {
  if (!body) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MOST_BYTES)
      throw new SignInRefusedError(`the answer of the identity provider has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether the provider was reached, and said no or something wrong. */
function asSignInError(oidc: typeof OpenIdClient, error: unknown): Error {
  if (error instanceof ExpectedError) return error;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    const { error: word, error_description: more } = error;
    const said = more === undefined ? word : `${word}: ${more}`;
    return new SignInRefusedError(`the identity provider refuses: ${said.slice(0, LONGEST_DESCRIPTION)}`, {
      cause: error,
    });
  }
  if (error instanceof oidc.ClientError && !UNAVAILABLE.has(error.code ?? ''))
    return new SignInRefusedError(
      `the answer of the identity provider is not acceptable: ${reasonOf(error)}`,
      { cause: error },
    );
  return new ProviderUnavailableError(`the identity provider does not answer: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** The innermost message: the outer ones say little. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? reasonOf(cause) : errorMessage(error);
}
