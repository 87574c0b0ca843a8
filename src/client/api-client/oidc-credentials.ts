import { readNamedFileSync } from '@rollkeeper/machinery/files';
import type * as OpenIdClient from 'openid-client';
import * as z from 'zod';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { isJsonObject, parseJson } from '@rollkeeper/machinery/kubernetes';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { CredentialHeaders, Credentials } from './cluster-connection.js';
import { bearer } from './credentials.js';
import { proxyFromEnvironment } from './proxy.js';
import type { Issued } from './renewed-credentials.js';
import { RenewedCredentials } from './renewed-credentials.js';

const text = z.string().nullish();

/** `auth-provider.config` of the provider `oidc`. A refresh does not request scopes again. */
const configSchema = z.object({
  'idp-issuer-url': z.url({ protocol: /^https?$/ }),
  'client-id': z.string().min(1),
  'client-secret': text,
  'id-token': text,
  'refresh-token': text,
  'idp-certificate-authority': text,
  'idp-certificate-authority-data': text,
});

type OidcConfig = z.infer<typeof configSchema>;

/** Tokens from the identity provider. */
interface OidcTokens {
  readonly idToken: string;
  readonly refreshToken: string;
}

interface OidcCredentialsOptions {
  /** Name of the user in errors. */
  readonly field: string;
  readonly config: unknown;
  /** Stores new tokens in the place of the old ones: many providers accept a refresh token only once. */
  readonly persist: (tokens: OidcTokens) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Clock skew and latency: a token counts as expired this long before its expiry. */
const LEEWAY_MS = 10_000;

/** Credentials of the `oidc` auth-provider: an id-token, refreshed at the provider's token endpoint when it expires. */
export class OidcCredentials implements Credentials {
  private readonly issued: RenewedCredentials;
  private readonly config: OidcConfig;
  private tokens: Partial<OidcTokens>;
  private isFirst = true;

  /** @throws InvalidOptionError naming the field */
  constructor(private readonly options: OidcCredentialsOptions) {
    const field = `${options.field}: auth-provider oidc: config`;
    this.config = compileOptions(configSchema, options.config ?? {}, field);
    this.tokens = {
      idToken: this.config['id-token'] ?? undefined,
      refreshToken: this.config['refresh-token'] ?? undefined,
    };
    this.issued = new RenewedCredentials(() => this.issue(), options.clock);
  }

  headers(): Promise<CredentialHeaders> {
    return this.issued.headers();
  }

  invalidate(refused: CredentialHeaders): boolean {
    return this.tokens.refreshToken !== undefined && this.issued.invalidate(refused);
  }

  /** The kubeconfig's token while it is valid, otherwise a new one. */
  private async issue(): Promise<Issued> {
    const { clock, field } = this.options;
    const { idToken } = this.tokens;
    const given = this.isFirst && idToken !== undefined ? issuedBy(idToken) : undefined;
    this.isFirst = false;
    if (given && clock.now() < (given.renewAtMs ?? 0)) return given;
    try {
      return issuedBy(await this.refresh());
    } catch (error) {
      throw new Error(`${field}: auth-provider oidc: ${errorMessage(error)}`, { cause: error });
    }
  }

  private async refresh(): Promise<string> {
    const { refreshToken } = this.tokens;
    if (!refreshToken) throw new Error('the id-token has expired, and there is no refresh-token');
    // Imported lazily for the few users that need it.
    const oidc = await import('openid-client');
    const provider = await this.discover(oidc);
    const answer = await oidc.refreshTokenGrant(provider, refreshToken);
    if (!answer.id_token) throw new Error('the provider refreshed the token, but sent no id_token along');
    const tokens = { idToken: answer.id_token, refreshToken: answer.refresh_token ?? refreshToken };
    this.tokens = tokens;
    this.options.persist(tokens);
    return answer.id_token;
  }

  private async discover(oidc: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const { 'client-id': id, 'client-secret': secret, 'idp-issuer-url': issuer } = this.config;
    const url = new URL(issuer);
    const insecure = url.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
    const customFetch = await this.fetch(issuer);
    const found = await oidc.discovery(url, id, undefined, oidc.None(), {
      execute: insecure,
      [oidc.customFetch]: customFetch,
    });
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } =
      found.serverMetadata();
    const authentication = !secret
      ? oidc.None()
      : methods.includes('client_secret_basic')
        ? oidc.ClientSecretBasic(secret)
        : oidc.ClientSecretPost(secret);
    const provider = new oidc.Configuration(found.serverMetadata(), id, undefined, authentication);
    provider[oidc.customFetch] = customFetch;
    for (const allow of insecure) allow(provider);
    return provider;
  }

  /** A fetch that trusts the provider's own CA and uses the environment's proxy. */
  private async fetch(issuer: string): Promise<OpenIdClient.CustomFetch> {
    const { Agent, ProxyAgent, fetch } = await import('undici');
    const { 'idp-certificate-authority': path, 'idp-certificate-authority-data': data } = this.config;
    const ca = data ? Buffer.from(data, 'base64') : path ? readNamedFileSync(path) : undefined;
    const proxy = proxyFromEnvironment(issuer, this.options.env);
    const tls = { allowH2: false, ...(ca && { ca }) };
    return async (url, init) => {
      const dispatcher = proxy
        ? new ProxyAgent({ uri: proxy, requestTls: tls })
        : new Agent({ connect: tls });
      const { body, headers, method, redirect, signal } = init;
      const response = await fetch(url, {
        method,
        headers,
        redirect,
        signal,
        dispatcher,
        body: body instanceof URLSearchParams ? body.toString() : body,
      });
      const answer = await response.arrayBuffer();
      await dispatcher.close();
      const { headers: answered, status } = response;
      return new Response(answer, { status, headers: Object.fromEntries(answered) });
    };
  }
}

/** @throws InvalidOptionError if it is not a JWT */
function issuedBy(idToken: string): Issued {
  const payload = idToken.split('.')[1] ?? '';
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
    if (!isJsonObject(claims)) throw new TypeError('its claims are no object');
    const { exp } = claims;
    const expiresAtMs = typeof exp === 'number' ? exp * 1000 : 0;
    return { headers: bearer(idToken), renewAtMs: expiresAtMs - LEEWAY_MS, expiresAtMs };
  } catch (error) {
    throw new InvalidOptionError('id-token', 'is not a JWT', { cause: error });
  }
}
