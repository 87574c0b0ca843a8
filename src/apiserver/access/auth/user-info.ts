/** The user of a request, as authentication has found it: the API's `UserInfo`. */
export interface UserInfo {
  readonly username: string;
  /** Distinguishes users who have had the name one after the other. */
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** May do everything, regardless of roles. */
export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';

/** The user of the server's own token. */
export const ADMIN: UserInfo = { username: 'admin', groups: [MASTERS, AUTHENTICATED] };
/** The user of requests without credentials. */
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: [UNAUTHENTICATED] };

export function isMaster(user: UserInfo): boolean {
  return user === ADMIN || user.groups.includes(MASTERS);
}

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';
const ACCOUNTS = 'system:serviceaccounts';

/** `system:serviceaccount:NAMESPACE:NAME` */
export function usernameOfAccount({ namespace, name }: ServiceAccountName): string {
  return `${ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** The groups that a service account is in by itself. */
export function groupsOfAccount({ namespace }: Pick<ServiceAccountName, 'namespace'>): string[] {
  return [ACCOUNTS, `${ACCOUNTS}:${namespace}`];
}

/** @returns undefined for a name that is no service account's */
export function accountOfUsername(username: string): ServiceAccountName | undefined {
  if (!username.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = username.slice(ACCOUNT_PREFIX.length).split(':');
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
}
