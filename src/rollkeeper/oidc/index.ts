export { OIDC_RIGHTS, decideOidcOptions } from './oidc-options.js';
export type { OidcOptions, OidcRights } from './oidc-options.js';
export { OpenIdProvider, ProviderUnavailableError, SignInRefusedError } from './oidc-provider.js';
export type { IdentityProvider, Issued, SignInSecrets } from './oidc-provider.js';
export { OidcSignIn } from './oidc-sign-in.js';
export type { SignInResult } from './oidc-sign-in.js';
export { ClaimError, isReservedUser, userOfClaims } from './user-of-claims.js';
