export { Authenticator } from './authenticator.js';
export { ISSUER, ServiceAccountTokens } from './service-account-tokens.js';
export type { AuthenticatedToken, BoundObject } from './service-account-tokens.js';
export { createSigningKey, ensureSigningKeyFile } from './signing-key.js';
export type { SigningKey } from './signing-key.js';
export { ensureTokenFile } from './bearer-token.js';
export { readTokenUsers } from './token-users.js';
export type { TokenUser } from './token-users.js';
export { nodeOfUser } from './node-identity.js';
export {
  accountOfUsername,
  ADMIN,
  ANONYMOUS,
  AUTHENTICATED,
  groupsOfAccount,
  MASTERS,
  isMaster,
  UNAUTHENTICATED,
  usernameOfAccount,
} from './user-info.js';
export type { ServiceAccountName, UserInfo } from './user-info.js';
