import { ExpectedError } from '@rollkeeper/machinery/errors';
import type { UserInfo } from '../delegated-access/index.js';

/** The claims that name the user and their groups: the meaning of kube-apiserver's `--oidc-…` options. */
export interface ClaimRules {
  readonly issuerUrl: string;
  readonly usernameClaim: string;
  /** `-`: none. Undefined: the issuer and `#`, but none for the claim `email`. */
  readonly usernamePrefix?: string | undefined;
  /** Undefined: users have no groups. */
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

/** The identity provider's claims about a user are not acceptable. */
export class ClaimError extends ExpectedError {}

/** Names that the cluster keeps for itself: its components, service accounts and administrators. */
const RESERVED = 'system:';
const EMAIL = 'email';
const NO_PREFIX = '-';
/** Names go into header fields. */
const HEADER_TEXT = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
const LONGEST_NAME = 500;
const MOST_GROUPS = 200;

/**
 * The user that an ID token is about. Source: the OIDC authenticator of kube-apiserver. What is stricter: no name of the
 * cluster's own is accepted, neither of a user nor of a group, because the replica's rights to impersonate might reach it.
 * @throws ClaimError
 */
export function userOfClaims(claims: Claims, rules: ClaimRules): UserInfo {
  const username = acceptable(prefixOf(rules) + nameIn(claims, rules.usernameClaim), 'user');
  const groups = groupsIn(claims, rules.groupsClaim).map((group) =>
    acceptable((rules.groupsPrefix ?? '') + group, 'group'),
  );
  return { username, groups };
}

/** Whether a user has a name of the cluster's own, or is in such a group. Such a user is never impersonated, however that came about. */
export function isReservedUser({ groups = [], username }: UserInfo): boolean {
  return [username, ...groups].some((name) => name.startsWith(RESERVED));
}

/** Whether names with this prefix could be the cluster's own. */
export function isReservedPrefix(prefix: string): boolean {
  return prefix.startsWith(RESERVED);
}

function prefixOf({ issuerUrl, usernameClaim, usernamePrefix }: ClaimRules): string {
  if (usernamePrefix !== undefined) return usernamePrefix === NO_PREFIX ? '' : usernamePrefix;
  return usernameClaim === EMAIL ? '' : `${issuerUrl}#`;
}

function nameIn(claims: Claims, claim: string): string {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (typeof value !== 'string' || value === '')
    throw new ClaimError(`the ID token has no claim "${claim}" that is a text`);
  const { email_verified: verified = true } = claims;
  if (claim === EMAIL && verified !== true)
    throw new ClaimError('the email address of the ID token is not verified');
  return value;
}

function groupsIn(claims: Claims, claim: string | undefined): readonly string[] {
  const value = claim !== undefined && Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return [];
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (!groups.every((group) => typeof group === 'string'))
    throw new ClaimError(`the claim "${claim}" of the ID token is neither a text nor a list of texts`);
  if (groups.length > MOST_GROUPS)
    throw new ClaimError(`the ID token names ${groups.length} groups; ${MOST_GROUPS} are accepted`);
  return groups;
}

function acceptable(name: string, what: 'user' | 'group'): string {
  if (name.startsWith(RESERVED))
    throw new ClaimError(`the ${what} "${name}" has a name that the cluster keeps for itself`);
  if (name.length > LONGEST_NAME || !HEADER_TEXT.test(name))
    throw new ClaimError(`the name of a ${what} is longer than ${LONGEST_NAME} characters, or is not ASCII`);
  return name;
}
