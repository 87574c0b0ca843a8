import type { RoleBinding, RoleRef } from '@rollkeeper/machinery/types/rbac-v1';
import type { DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { UserInfo } from '../auth/index.js';
import { isMaster } from '../auth/index.js';
import { RBAC_GROUP } from '../../kinds/index.js';
import { decideAccess, rulesHeldBy } from './decide-access.js';
import type { PolicyView } from './policy.js';
import { describeRights, quotedList, uncovered } from './policy-rule.js';
import type { PolicyRule } from './policy-rule.js';

/** A role or binding about to be written. */
interface PolicyWrite {
  readonly user: UserInfo;
  /** `roles`, `clusterrolebindings` … */
  readonly resource: string;
  /** Empty: cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly object: Readonly<UnstructuredObject>;
  /** Absent: it is created. */
  readonly old?: Readonly<UnstructuredObject>;
}

type EscalationVerdict =
  | { readonly verdict: 'allowed' }
  /** A grant of rights that the author lacks. */
  | { readonly verdict: 'escalation'; readonly problem: string }
  | { readonly verdict: 'missing role'; readonly roleRef: RoleRef };

const ALLOWED: EscalationVerdict = { verdict: 'allowed' };

/**
 * Whether a write of a role or binding gives away rights that its writer does not have, unless they may `escalate` the
 * role or `bind` it. Source: policybased/storage.go of each kind in pkg/registry/rbac, and escalation_check.go.
 */
export function decideEscalation(write: PolicyWrite, policy: PolicyView): EscalationVerdict {
  const { name, namespace, object, old, resource, user } = write;
  if (isMaster(user)) return ALLOWED;
  if (old && isOnlyGarbageCollected(object, old)) return ALLOWED;
  const may = (verb: string, target: { resource: string; name: string }): boolean =>
    decideAccess(user, { verb, group: RBAC_GROUP, subresource: '', namespace, ...target }, policy).allowed;
  if (resource.endsWith('roles')) {
    // As there, a right to escalate roles of certain names is none to create them.
    if (may('escalate', { resource, name: old ? name : '' })) return ALLOWED;
    // An aggregated role gets the rules of any other roles, so its author can grant everything.
    const isAggregated = object.aggregationRule ?? old?.aggregationRule;
    return judge(write, isAggregated ? EVERYTHING : ((object.rules as PolicyRule[] | null) ?? []), policy);
  }
  const { roleRef }: DecodedObject<RoleBinding> = object;
  // A binding to no role gives nothing away, and its validation, which comes later, says what it lacks.
  if (!isWholeRoleRef(roleRef)) return ALLOWED;
  if (may('bind', { resource: `${roleRef.kind.toLowerCase()}s`, name: roleRef.name })) return ALLOWED;
  const rules = policy.rulesOf(roleRef, namespace);
  return rules ? judge(write, rules, policy) : { verdict: 'missing role', roleRef };
}

const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

function judge(
  { namespace, user }: PolicyWrite,
  given: readonly PolicyRule[],
  policy: PolicyView,
): EscalationVerdict {
  const { problems, rules } = rulesHeldBy(user, namespace, policy);
  const missing = uncovered(given, rules);
  if (missing.length === 0) return ALLOWED;
  const who = `user ${JSON.stringify(user.username)} (groups=${quotedList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${describeRights(missing)}`;
  if (problems.length === 0) return { verdict: 'escalation', problem: text };
  return { verdict: 'escalation', problem: `${text}; resolution errors: [${problems.join(' ')}]` };
}

function isWholeRoleRef(roleRef: Partial<RoleRef> | undefined): roleRef is RoleRef {
  return !!roleRef?.kind && !!roleRef.name;
}

/** A change that only removes finalizers or owners grants nothing. */
function isOnlyGarbageCollected(
  object: Readonly<UnstructuredObject>,
  old: Readonly<UnstructuredObject>,
): boolean {
  const { finalizers, managedFields, ownerReferences, resourceVersion } = old.metadata;
  const metadata = { ...object.metadata, finalizers, managedFields, ownerReferences, resourceVersion };
  return semanticEqual({ ...object, metadata }, old);
}
