import type { UserInfo } from '../auth/index.js';
import { isMaster } from '../auth/index.js';
import type { AccessAttributes } from '../../cel/library/access-attributes.js';
import { combinedResource } from '../../cel/library/access-attributes.js';
import type { Grant, PolicyView } from './policy.js';
import { ruleAllows } from './policy-rule.js';
import type { PolicyRule } from './policy-rule.js';

export interface AccessDecision {
  readonly allowed: boolean;
  /** The binding that allows it, or what kept the search from finding more. Empty: there is nothing to say. */
  readonly reason: string;
}

const ALLOWED: AccessDecision = { allowed: true, reason: '' };

/**
 * Whether a user may do something, decided like kube-apiserver's RBAC authorizer, after the one that allows everything
 * to the group `system:masters`.
 */
export function decideAccess(
  user: UserInfo,
  attributes: AccessAttributes,
  policy: PolicyView,
): AccessDecision {
  if (isMaster(user)) return ALLOWED;
  const namespace = attributes.path === undefined ? attributes.namespace : '';
  const missing: string[] = [];
  for (const grant of policy.grantsTo(user, namespace)) {
    if (!grant.rules) missing.push(missingRole(grant));
    else if (grant.rules.some((rule) => ruleAllows(rule, attributes)))
      return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` };
  }
  return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${aggregated(missing)}` };
}

export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** Why there may be more. */
  readonly problems: readonly string[];
}

/** All rules that apply to a user in a namespace, including cluster-scoped ones. */
export function rulesHeldBy(user: UserInfo, namespace: string, policy: PolicyView): HeldRules {
  const grants = [...policy.grantsTo(user, namespace)];
  return {
    rules: grants.flatMap(({ rules = [] }) => rules),
    problems: grants.filter(({ rules }) => !rules).map(missingRole),
  };
}

/** The refusal in the words of kube-apiserver, without the object that it begins with. */
export function describeRefusal(user: UserInfo, attributes: AccessAttributes, reason: string): string {
  const what = describeAction(attributes);
  const text = `User ${JSON.stringify(user.username)} cannot ${attributes.verb} ${what}`;
  return reason === '' ? text : `${text}: ${reason}`;
}

function describeAction(attributes: AccessAttributes): string {
  if (attributes.path !== undefined) return `path ${JSON.stringify(attributes.path)}`;
  const { group, namespace } = attributes;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `resource ${JSON.stringify(combinedResource(attributes))} in API group ${JSON.stringify(group)} ${scope}`;
}

function describeGrant({ binding: { name, namespace, roleRef }, subject }: Grant): string {
  const home = subject.namespace ?? namespace;
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name;
  const what = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  return `${what} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${whom}"`;
}

function missingRole({ binding: { roleRef } }: Grant): string {
  return `${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io "${roleRef.name}" not found`;
}

function aggregated(problems: readonly string[]): string {
  const different = [...new Set(problems)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
