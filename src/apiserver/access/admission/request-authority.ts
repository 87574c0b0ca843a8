import { AUTHENTICATED, groupsOfAccount, usernameOfAccount } from '../auth/index.js';
import type { UserInfo } from '../auth/index.js';
import type { AccessAttributes } from '../../cel/library/access-attributes.js';
import { AuthorizerValue } from '../../cel/index.js';
import type { Authority, AuthorityDecision } from '../../cel/index.js';
import type { Attributes } from './attributes.js';

/** Authorization for expressions that use `authorizer`. */
export interface AccessDecider {
  decide(user: UserInfo, question: AccessAttributes): AuthorityDecision;
}

/** The `authorizer` of expressions about a request, for its user. */
export function authorizerFor(
  { caller, kind, name, namespace, subresource }: Attributes,
  access: AccessDecider,
): AuthorizerValue {
  const { group, resource } = kind.type;
  const requestResource = { group, resource, subresource, namespace, name };
  const authorityOf = (user: UserInfo): Authority => ({
    requestResource,
    decide: (question) => access.decide(user, question),
    forServiceAccount: (home, account) => authorityOf(accountUser(home, account)),
  });
  return new AuthorizerValue(authorityOf(caller.user));
}

/** The user of a service account. */
function accountUser(namespace: string, name: string): UserInfo {
  return {
    username: usernameOfAccount({ namespace, name }),
    groups: [...groupsOfAccount({ namespace }), AUTHENTICATED],
  };
}
