export { decideOidcOptions } from './oidc-options.js';
export type { OidcOptions, OidcRights } from './oidc-options.js';
export { OpenIdProvider, ProviderUnavailableError, SignInRefusedError } from './oidc-provider.js';
export { OidcSignIn } from './oidc-sign-in.js';
export type { SignInResult } from './oidc-sign-in.js';
export { ClaimError, isReservedUser } from './user-of-claims.js';
