import type {
  AccessAttributes,
  FieldRequirement,
  ResourceAttributes,
} from '../../cel/library/access-attributes.js';
import type { PolicyRule } from './policy-rule.js';
import { ruleAllows } from './policy-rule.js';
import type { AccessDecision } from './decide-access.js';

/** The references by which an object belongs to a node. */
export interface NodeRelations {
  /** Whether something on a node needs the object. `resource` is qualified; `namespace` is empty for those without one. */
  isNeeded(node: string, object: { resource: string; namespace: string; name: string }): boolean;
}

const LEASES = 'kube-node-lease';
const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

/**
 * Whether the kubelet of a node may do something: with its own Node, Lease and CSINode, with the pods on it, and what these
 * need. What is not allowed is left to the roles. Source: plugin/pkg/auth/authorizer/node/node_authorizer.go.
 * @param node empty: it is not known which
 * @param rules what every kubelet may do
 */
export function decideNodeAccess(
  node: string,
  username: string,
  asked: AccessAttributes,
  { relations, rules }: { readonly relations: NodeRelations; readonly rules: readonly PolicyRule[] },
): AccessDecision {
  if (node === '') return no(`unknown node for user ${JSON.stringify(username)}`);
  if (asked.path === undefined) {
    const decide = DECISIONS[qualified(asked)];
    if (decide) return decide(node, asked, relations);
  }
  return rules.some((rule) => ruleAllows(rule, asked)) ? YES : no('');
}

type Decide = (node: string, asked: ResourceAttributes, relations: NodeRelations) => AccessDecision;

const YES: AccessDecision = { allowed: true, reason: '' };

function no(reason: string): AccessDecision {
  return { allowed: false, reason };
}

function qualified({ group, resource }: ResourceAttributes): string {
  return group === '' ? resource : `${resource}.${group}`;
}

const DECISIONS: Readonly<Record<string, Decide>> = {
  secrets: decideRead,
  configmaps: decideRead,
  persistentvolumeclaims: (node, asked, relations) =>
    asked.subresource === 'status' ? decideStatus(node, asked, relations) : decideGet(node, asked, relations),
  persistentvolumes: decideGet,
  'resourceclaims.resource.k8s.io': decideGet,
  'volumeattachments.storage.k8s.io': decideGet,
  serviceaccounts: decideToken,
  'leases.coordination.k8s.io': decideLease,
  'csinodes.storage.k8s.io': decideCsiNode,
  'resourceslices.resource.k8s.io': decideSlice,
  nodes: decideNode,
  pods: decidePod,
};

function decideRelated(node: string, asked: ResourceAttributes, relations: NodeRelations): AccessDecision {
  const { name, namespace } = asked;
  if (name === '') return no('No Object name found');
  return relations.isNeeded(node, { resource: qualified(asked), namespace, name })
    ? YES
    : no(`no relationship found between node '${node}' and this object`);
}

function decideStatus(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  if (asked.verb !== 'update' && asked.verb !== 'patch') return no('can only get/update/patch this type');
  return decideRelated(node, asked, relations);
}

function decideGet(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  if (asked.verb !== 'get') return no('can only get individual resources of this type');
  if (asked.subresource !== '') return no('cannot get subresource');
  return decideRelated(node, asked, relations);
}

function decideRead(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  if (!['get', 'list', 'watch'].includes(asked.verb)) return no('can only read resources of this type');
  if (asked.subresource !== '') return no('cannot read subresource');
  if (asked.namespace === '') return no('can only read namespaced object of this type');
  return decideRelated(node, asked, relations);
}

function decideToken(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  if (asked.verb !== 'create' || asked.name === '')
    return no('can only create tokens for individual service accounts');
  if (asked.subresource !== 'token') return no('can only create token subresource of serviceaccount');
  return decideRelated(node, asked, relations);
}

function decideLease(node: string, { name, namespace, verb }: ResourceAttributes): AccessDecision {
  if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a node lease');
  if (namespace !== LEASES) return no(`can only access leases in the "${LEASES}" system namespace`);
  // The name of a new one is checked when it is admitted.
  if (verb !== 'create' && name !== node)
    return no('can only access node lease with the same name as the requesting node');
  return YES;
}

function decideCsiNode(node: string, { name, subresource, verb }: ResourceAttributes): AccessDecision {
  if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return no('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node)
    return no('can only access CSINode with the same name as the requesting node');
  return YES;
}

function decideSlice(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  if (asked.subresource !== '') return no('cannot authorize ResourceSlice subresources');
  switch (asked.verb) {
    case 'create':
      return YES;
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return decideRelated(node, asked, relations);
    case 'watch':
    case 'list':
    case 'deletecollection':
      return selects(asked.fieldSelector, 'spec.nodeName', node)
        ? YES
        : no('can only list/watch/deletecollection resourceslices with nodeName field selector');
    default:
      return no(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
  }
}

function decideNode(node: string, { name, subresource, verb }: ResourceAttributes): AccessDecision {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? YES : no('');
  if (subresource !== '') return no('');
  if (verb === 'create' || verb === 'update' || verb === 'patch') return YES;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return no('');
  if (name === node) return YES;
  return name === ''
    ? no(`node '${node}' cannot read all nodes, only its own Node object`)
    : no(`node '${node}' cannot read '${name}', only its own Node object`);
}

function decidePod(...[node, asked, relations]: Parameters<Decide>): AccessDecision {
  const { subresource, verb } = asked;
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? YES : no('');
  if (subresource === 'eviction') return verb === 'create' ? YES : no('');
  if (subresource !== '') return no('');
  switch (verb) {
    case 'get':
      return decideGet(node, asked, relations);
    case 'list':
    case 'watch':
      if (selects(asked.fieldSelector, 'spec.nodeName', node)) return YES;
      if (asked.name !== '') return decideRelated(node, asked, relations);
      return no('can only list/watch pods with spec.nodeName field selector');
    case 'create':
    case 'delete':
      return YES;
    default:
      return no('');
  }
}

function selects(
  requirements: readonly FieldRequirement[] | undefined,
  field: string,
  value: string,
): boolean {
  return requirements?.some((one) => one.field === field && one.value === value) ?? false;
}
