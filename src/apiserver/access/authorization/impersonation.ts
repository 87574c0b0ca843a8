import {
  accountOfUsername,
  ANONYMOUS,
  AUTHENTICATED,
  groupsOfAccount,
  UNAUTHENTICATED,
} from '../auth/index.js';
import type { UserInfo } from '../auth/index.js';
import { goQuote } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import type { ResourceAttributes } from '../../cel/library/access-attributes.js';

/** Header names in lower case, with all their values. */
type HeaderValues = Readonly<Record<string, readonly string[] | undefined>>;

interface Impersonation {
  /** The user as whom the request continues. */
  readonly user: UserInfo;
  /** The rights that the caller needs, all of them. */
  readonly needs: readonly ResourceAttributes[];
}

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';
const AUTHENTICATION = 'authentication.k8s.io';

/** Whether the headers request impersonation, which is rare. */
export function isImpersonating(headers: Readonly<Record<string, unknown>>): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/**
 * As whom `kubectl --as` and the like want to act. Source: WithImpersonation in apiserver/pkg/endpoints/filters.
 * @throws StatusError 400 for groups, a uid or extra without a user
 */
export function readImpersonation(headers: HeaderValues): Impersonation | undefined {
  const username = headers[USER]?.[0] ?? '';
  const groups = headers[GROUP] ?? [];
  const uid = headers[UID]?.[0] ?? '';
  const extra = readExtra(headers);
  if (username === '') {
    if (groups.length === 0 && uid === '' && Object.keys(extra).length === 0) return undefined;
    throw badRequest(`requested ${goUserInfo(groups, uid, extra)} without impersonating a user name`);
  }
  return {
    user: {
      username,
      ...(uid !== '' && { uid }),
      groups: completeGroups(username, groups),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
    needs: [
      userNeed(username),
      ...groups.map((name) => need('', 'groups', name)),
      ...(uid === '' ? [] : [need(AUTHENTICATION, 'uids', uid)]),
      ...Object.entries(extra).flatMap(([key, values]) =>
        values.map((value) => ({ ...need(AUTHENTICATION, 'userextras', value), subresource: key })),
      ),
    ],
  };
}

function readExtra(headers: HeaderValues): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {};
  for (const [name, values] of Object.entries(headers)) {
    if (!name.startsWith(EXTRA_PREFIX) || !values) continue;
    const key = name.slice(EXTRA_PREFIX.length);
    Object.defineProperty(extra, decoded(key), { value: values, enumerable: true });
  }
  return extra;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** A request that names no groups gets the groups that the user always has. */
function completeGroups(username: string, named: readonly string[]): readonly string[] {
  const account = accountOfUsername(username);
  const groups = named.length > 0 || !account ? named : groupsOfAccount(account);
  if (groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return groups;
  return [...groups, username === ANONYMOUS.username ? UNAUTHENTICATED : AUTHENTICATED];
}

function userNeed(username: string): ResourceAttributes {
  const account = accountOfUsername(username);
  if (!account) return need('', 'users', username);
  return { ...need('', 'serviceaccounts', account.name), namespace: account.namespace };
}

function need(group: string, resource: string, name: string): ResourceAttributes {
  return { verb: 'impersonate', group, resource, subresource: '', namespace: '', name };
}

/** Go's `%#v` of what was asked for. */
function goUserInfo(
  groups: readonly string[],
  uid: string,
  extra: Readonly<Record<string, readonly string[]>>,
): string {
  const list = (texts: readonly string[]): string =>
    texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(goQuote).join(', ')}}`;
  const fields = Object.entries(extra)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, values]) => `${goQuote(name)}:${list(values)}`);
  const extraText = fields.length === 0 ? '(nil)' : `{${fields.join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:map[string][]string${extraText}}`;
}
