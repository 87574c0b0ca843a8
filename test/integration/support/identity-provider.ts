import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import { SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import type { Clock } from '../../../src/machinery/clock/index.js';

/** The claims of a provider about the person who signs in. */
export interface Person {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

interface Granted {
  readonly person: Person;
  readonly challenge: string;
  readonly nonce: string | undefined;
}

export interface IdentityProviderParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** @default none: a public client */
  readonly clientSecret?: string;
}

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
interface Forged {
  readonly claims?: (claims: JWTPayload) => JWTPayload;
  /** In place of the signed token. */
  readonly token?: (claims: JWTPayload) => Promise<string>;
}

const KEY_ID = 'key-1';
const TOKEN_LASTS_SECONDS = 300;
export const CLIENT_ID = 'rollkeeper-console';

/** An OpenID Connect provider on loopback, where everybody who comes by is signed in as `person` at once. */
export class TestIdentityProvider {
  readonly requests: string[] = [];
  person: Person = { sub: 'anna' };
  /** Makes its ID tokens wrong. */
  forge: Forged = {};
  /** Hands out refresh tokens. */
  renews = false;
  /** Takes a code as often as it comes. */
  isLax = false;
  /** In place of its answers. */
  broken: ((response: ServerResponse) => void) | undefined;
  private readonly codes = new Map<string, Granted>();
  private readonly refreshTokens = new Map<string, Person>();

  private constructor(
    readonly issuer: string,
    private readonly parts: IdentityProviderParts,
    private readonly keys: Keys,
    private readonly closeServer: () => Promise<void>,
  ) {}

  static async start(parts: IdentityProviderParts): Promise<TestIdentityProvider> {
    const keys = await generateKeyPair('RS256', { extractable: true });
    const listener: { of?: TestIdentityProvider } = {};
    const answer: RequestListener = (request, response) => void listener.of?.answer(request, response);
    const server = parts.tls ? createHttpsServer(parts.tls, answer) : createHttpServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    const issuer = `${parts.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    listener.of = new TestIdentityProvider(issuer, parts, keys, close);
    return listener.of;
  }

  stop(): Promise<void> {
    return this.closeServer();
  }

  /** Acts as a browser at the provider, and returns the query with which it is sent back. */
  visit(address: string): string {
    const { searchParams } = new URL(address);
    return new URL(this.authorize(searchParams)).search.slice(1);
  }

  /** Signs claims as a token of this provider, by the given key. */
  async sign(claims: JWTPayload, key = this.keys.privateKey): Promise<string> {
    return this.signAs({}, claims, key);
  }

  /** The same with other fields in the header, by any key or secret. */
  async signAs(
    header: Partial<JWTHeaderParameters>,
    claims: JWTPayload,
    key: Keys['privateKey'] | Uint8Array = this.keys.privateKey,
  ): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID, ...header }).sign(key);
  }

  /** Its public key. PEM. */
  publicKey(): Promise<string> {
    return exportSPKI(this.keys.publicKey);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.issuer);
    this.requests.push(`${request.method} ${pathname}`);
    if (this.broken) return this.broken(response);
    const body = new URLSearchParams(await textOf(request));
    if (pathname === '/authorize')
      return void response.writeHead(302, { location: this.authorize(searchParams) }).end();
    const [status, content] = await this.contentOf(pathname, body, request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
  }

  private async contentOf(
    pathname: string,
    body: URLSearchParams,
    authorization: string | undefined,
  ): Promise<readonly [number, object]> {
    if (pathname === '/.well-known/openid-configuration') return [200, this.metadata()];
    if (pathname === '/jwks') {
      const jwk = await exportJWK(this.keys.publicKey);
      return [200, { keys: [{ ...jwk, kid: KEY_ID, alg: 'RS256', use: 'sig' }] }];
    }
    if (!this.knowsClient(body, authorization)) return [401, { error: 'invalid_client' }];
    if (pathname === '/revoke') {
      this.refreshTokens.delete(body.get('token') ?? '');
      return [200, {}];
    }
    return pathname === '/token' ? this.token(body) : [404, { error: 'not_found' }];
  }

  private metadata(): object {
    const { clientSecret } = this.parts;
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      revocation_endpoint: `${this.issuer}/revoke`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: [clientSecret === undefined ? 'none' : 'client_secret_basic'],
    };
  }

  private knowsClient(body: URLSearchParams, authorization = ''): boolean {
    const { clientSecret } = this.parts;
    if (clientSecret === undefined) return body.get('client_id') === CLIENT_ID;
    const [id, secret] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':');
    return ofForm(id) === CLIENT_ID && ofForm(secret) === clientSecret;
  }

  private authorize(query: URLSearchParams): string {
    const code = randomUUID();
    this.codes.set(code, {
      person: this.person,
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? undefined,
    });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return back.href;
  }

  private async token(body: URLSearchParams): Promise<readonly [number, object]> {
    if (body.get('grant_type') === 'refresh_token') return this.refreshed(body.get('refresh_token') ?? '');
    const code = body.get('code') ?? '';
    const granted = this.codes.get(code);
    if (!this.isLax) this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (!granted || granted.challenge !== challenge) return [400, { error: 'invalid_grant' }];
    return [200, await this.issue(granted.person, granted.nonce)];
  }

  private async refreshed(refreshToken: string): Promise<readonly [number, object]> {
    const person = this.refreshTokens.get(refreshToken);
    // Each is good once.
    this.refreshTokens.delete(refreshToken);
    return person ? [200, await this.issue(person)] : [400, { error: 'invalid_grant' }];
  }

  private async issue(person: Person, nonce?: string): Promise<object> {
    const refresh_token = this.renews ? randomUUID() : undefined;
    if (refresh_token !== undefined) this.refreshTokens.set(refresh_token, person);
    const iat = Math.floor(this.parts.clock.now() / 1000);
    const usual: JWTPayload = {
      ...{ iss: this.issuer, aud: CLIENT_ID, iat, exp: iat + TOKEN_LASTS_SECONDS },
      ...(nonce !== undefined && { nonce }),
      ...person,
    };
    const { claims = (same: JWTPayload) => same, token = (all: JWTPayload) => this.sign(all) } = this.forge;
    return {
      ...{ access_token: 'not-used', token_type: 'Bearer', id_token: await token(claims(usual)) },
      ...(refresh_token !== undefined && { refresh_token }),
    };
  }
}

/** As RFC 6749 has the parts of the client's login: encoded as in a form. */
function ofForm(text = ''): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
