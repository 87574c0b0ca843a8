import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { UserInfo } from '../auth/index.js';
import { isMaster, nodeOfUser } from '../auth/index.js';
import { forbidden, notFound } from '../../schema/errors/index.js';
import { RBAC_GROUP } from '../../kinds/index.js';
import type { KindRegistry } from '../../kinds/index.js';
import type { WriteGuard, WriteJudge } from './write-checks.js';
import type { FollowedResources } from '../../storage/index.js';
import type { AccessAttributes, ResourceAttributes } from '../../cel/library/access-attributes.js';
import { decideAccess, describeRefusal, rulesHeldBy } from './decide-access.js';
import type { AccessDecision, HeldRules } from './decide-access.js';
import { decideEscalation } from './decide-escalation.js';
import { decideParamAccess } from './decide-param-access.js';
import type { ParamKnowledge } from './decide-param-access.js';
import type { NodeAccess } from './node-access.js';
import { Policy, POLICY_RESOURCES } from './policy.js';

interface AuthorizerOptions {
  readonly followed: FollowedResources;
  readonly kinds: Pick<KindRegistry, 'findByKind'>;
  /** Every request is allowed: there is no token to distinguish users. */
  readonly isOpen: boolean;
  /** Decides for kubelets before the roles do. @default they have what their roles allow */
  readonly nodes?: NodeAccess;
}

/**
 * Authorizes by the roles and bindings of the store, from memory. Until `followed` has been loaded only masters are
 * allowed.
 */
export class Authorizer {
  readonly isOpen: boolean;
  readonly policy = new Policy();

  private readonly nodes: NodeAccess | undefined;
  private readonly params: ParamKnowledge;

  constructor({ followed, isOpen, kinds, nodes }: AuthorizerOptions) {
    this.isOpen = isOpen;
    this.nodes = nodes;
    const policies = new Map(
      [VALIDATING_POLICIES, MUTATING_POLICIES].map((resource) => [
        resource,
        followed.objects<UnstructuredObject>(qualified(resource)),
      ]),
    );
    this.params = {
      kinds,
      policyNamed: (resource, name) => policies.get(resource)?.get('', name),
      may: (user, question) => this.decide(user, question).allowed,
    };
    for (const resource of POLICY_RESOURCES)
      followed.of(resource).onChange((key, object) => this.policy.put(key, object));
  }

  /** To be awaited before a question about a user. Absent: it may be asked at once. */
  ready(user: UserInfo): Promise<void> | undefined {
    return this.isOpen ? undefined : this.nodes?.ready(user);
  }

  decide(user: UserInfo, attributes: AccessAttributes): AccessDecision {
    if (this.isOpen) return OPEN;
    const asNode = isMaster(user) ? undefined : this.nodes?.decide(user, attributes);
    if (asNode?.allowed) return asNode;
    const byRoles = decideAccess(user, attributes, this.policy);
    if (byRoles.allowed || !asNode) return byRoles;
    const reasons = [asNode.reason, byRoles.reason].filter((reason) => reason !== '');
    return { allowed: false, reason: reasons.join('\n') };
  }

  rulesHeldBy(user: UserInfo, namespace: string): HeldRules {
    if (this.isOpen) return EVERYTHING;
    const held = rulesHeldBy(user, namespace, this.policy);
    if (nodeOfUser(user) === undefined) return held;
    return { ...held, problems: ['node authorizer does not support user rule resolution', ...held.problems] };
  }

  /** @throws StatusError 403 */
  assertAllowed(user: UserInfo, attributes: AccessAttributes): void {
    const { allowed, reason } = this.decide(user, attributes);
    if (allowed) return;
    const problem = describeRefusal(user, attributes, reason);
    if (attributes.path !== undefined) throw forbidden({ group: '', resource: '' }, '', problem);
    throw forbidden(attributes, attributes.name, problem);
  }

  /**
   * Restrictions on a write beyond the right to it: a role or binding cannot grant rights that its author lacks, and an
   * update or patch that turns out to be a creation needs the right to create. Absent if neither can happen.
   */
  guardFor(user: UserInfo, attributes: ResourceAttributes): WriteGuard | undefined {
    if (this.isOpen || isMaster(user)) return undefined;
    const mayCreate = attributes.verb === 'update' || attributes.verb === 'patch';
    const isPolicy = attributes.group === RBAC_GROUP;
    if (!mayCreate && !isPolicy) return undefined;
    return (target, object, old) => {
      if (mayCreate && !old) this.assertAllowed(user, { ...attributes, verb: 'create' });
      if (isPolicy) this.assertNoEscalation(user, target, object, old);
    };
  }

  /**
   * Judges whether a policy of admission, or a binding of one, asks for more than its author may. Absent where it is
   * neither.
   */
  judgeFor(user: UserInfo, { group, resource, subresource }: ResourceAttributes): WriteJudge | undefined {
    if (this.isOpen || isMaster(user)) return undefined;
    if (group !== ADMISSION_GROUP || subresource !== '' || !WITH_PARAMS.test(resource)) return undefined;
    return (_target, object, old) => decideParamAccess({ user, resource, object, old }, this.params);
  }

  private assertNoEscalation(user: UserInfo, ...[target, object, old]: Parameters<WriteGuard>): void {
    const { kind, name, namespace } = target;
    const write = { user, resource: kind.type.resource, namespace, name, object, old };
    const outcome = decideEscalation(write, this.policy);
    if (outcome.verdict === 'escalation') throw forbidden(kind.type, name, outcome.problem);
    if (outcome.verdict === 'missing role') {
      const { kind: role, name: missing } = outcome.roleRef;
      throw notFound({ group: RBAC_GROUP, resource: role.toLowerCase() }, missing);
    }
  }
}

const ADMISSION_GROUP = 'admissionregistration.k8s.io';
const VALIDATING_POLICIES = 'validatingadmissionpolicies';
const MUTATING_POLICIES = 'mutatingadmissionpolicies';
const WITH_PARAMS = /^(validating|mutating)admission(policies|policybindings)$/;

function qualified(resource: string): string {
  return `${resource}.${ADMISSION_GROUP}`;
}

const OPEN: AccessDecision = { allowed: true, reason: 'everybody may do everything' };
const EVERYTHING: HeldRules = {
  rules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
  problems: [],
};
