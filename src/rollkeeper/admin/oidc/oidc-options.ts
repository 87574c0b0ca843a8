import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { ClaimRules } from './user-of-claims.js';
import { isReservedPrefix } from './user-of-claims.js';

/**
 * By whose rights the API is asked for a signed-in user. `token`: the ID token goes to the API server, which trusts the same
 * issuer. `impersonate`: the replica asks in the user's name, with its own right to impersonate.
 */
export const OIDC_RIGHTS = ['token', 'impersonate'] as const;
export type OidcRights = (typeof OIDC_RIGHTS)[number];

export interface OidcOptions {
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecretFile?: string | undefined;
  /** PEM. Undefined: the authorities that Node.js trusts. */
  readonly caFile?: string | undefined;
  readonly scopes: readonly string[];
  readonly rights: OidcRights;
  readonly claims: ClaimRules;
  /** The address to which the provider sends browsers back. */
  readonly redirectUri: string;
}

/** The options as they are given. */
export interface GivenOidcOptions {
  readonly 'oidc-issuer-url'?: string | undefined;
  readonly 'oidc-client-id'?: string | undefined;
  readonly 'oidc-client-secret-file'?: string | undefined;
  readonly 'oidc-ca-file'?: string | undefined;
  readonly 'oidc-scopes': string;
  readonly 'oidc-username-claim': string;
  readonly 'oidc-username-prefix'?: string | undefined;
  readonly 'oidc-groups-claim'?: string | undefined;
  readonly 'oidc-groups-prefix'?: string | undefined;
  readonly 'oidc-rights': OidcRights;
  readonly 'console-url'?: string | undefined;
  readonly 'admin-auth': string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** The form of a scope in RFC 6749. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const OPENID = 'openid';

/** Undefined: people sign in by other ways alone. @throws InvalidOptionError naming the option */
export function decideOidcOptions(given: GivenOidcOptions): OidcOptions | undefined {
  const issuerUrl = given['oidc-issuer-url'];
  if (issuerUrl === undefined) {
    if (given['oidc-client-id'] !== undefined)
      throw new InvalidOptionError('oidc-client-id', 'has no effect without oidc-issuer-url');
    return undefined;
  }
  assertProviderUrl(issuerUrl);
  const clientId = given['oidc-client-id'];
  if (clientId === undefined)
    throw new InvalidOptionError('oidc-client-id', 'is required with oidc-issuer-url');
  const consoleUrl = given['console-url'];
  if (consoleUrl === undefined)
    throw new InvalidOptionError(
      'console-url',
      'is required with oidc-issuer-url: the identity provider sends browsers back there',
    );
  if (given['admin-auth'] !== 'delegated')
    throw new InvalidOptionError(
      'admin-auth',
      'must be delegated with oidc-issuer-url: the API server decides what people may see and do',
    );
  for (const option of ['oidc-username-prefix', 'oidc-groups-prefix'] as const)
    if (isReservedPrefix(given[option] ?? ''))
      throw new InvalidOptionError(
        option,
        'must not begin with "system:", which the cluster keeps for itself',
      );
  return {
    clientId,
    clientSecretFile: given['oidc-client-secret-file'],
    caFile: given['oidc-ca-file'],
    scopes: scopesOf(given['oidc-scopes']),
    rights: given['oidc-rights'],
    claims: {
      issuerUrl,
      usernameClaim: given['oidc-username-claim'],
      usernamePrefix: given['oidc-username-prefix'],
      groupsClaim: given['oidc-groups-claim'],
      groupsPrefix: given['oidc-groups-prefix'],
    },
    redirectUri: new URL('/console/signed-in', consoleUrl).href,
  };
}

function assertProviderUrl(issuerUrl: string): void {
  const url = URL.parse(issuerUrl);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!isSafe || url.search || url.hash || url.username)
    throw new InvalidOptionError(
      'oidc-issuer-url',
      `"${issuerUrl}" must be an https URL without query and login (http on this machine alone)`,
    );
}

function scopesOf(list: string): readonly string[] {
  const named = list
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');
  const wrong = named.find((scope) => !SCOPE.test(scope));
  if (wrong !== undefined)
    throw new InvalidOptionError('oidc-scopes', `"${wrong}" is no scope; give them with commas between`);
  return [...new Set([OPENID, ...named])];
}
