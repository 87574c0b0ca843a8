import type { PolicyRule } from '../../access/authorization/index.js';
import {
  CONTROLLER_ROLE_PREFIX,
  CONTROLLER_RULES,
  CONTROLLER_RULES_IN_NAMESPACES,
} from './controller-roles.js';
import type { RulesInNamespace } from './controller-roles.js';
import {
  OWN_CONTROLLER_ROLE_PREFIX,
  OWN_CONTROLLER_RULES,
  OWN_CONTROLLER_RULES_IN_NAMESPACES,
} from './own-controller-roles.js';
import {
  APPS,
  AUTHENTICATION,
  AUTHORIZATION,
  CERTIFICATES,
  COORDINATION,
  CORE,
  DEVICES,
  DISCOVERY,
  EVENTS,
  EXTENSIONS,
  NETWORKING,
  RBAC,
  READ,
  REVIEW_ACCESS,
  STORAGE,
  WRITE,
  may,
  mayGet,
  mayNamed,
} from './policy-rules.js';

interface DefaultRole {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  /** The roles that it becomes a part of: `aggregate-to-view` and the like, by label. */
  readonly partOf?: AggregatedRole;
}

interface DefaultAggregate extends Omit<DefaultRole, 'rules'> {
  readonly name: AggregatedRole;
}

export type AggregatedRole = 'admin' | 'edit' | 'view';

export interface DefaultSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

const REVIEW_TOKENS = may('create', AUTHENTICATION, 'tokenreviews');
const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** The rules by which people may read, by group; writers have a part of them, with a few resources of their own. */
const VIEW_RULES: readonly PolicyRule[] = [
  may(
    READ,
    CORE,
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
  ),
  may(
    READ,
    CORE,
    'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
  ),
  may(READ, CORE, 'namespaces'),
  may(READ, DISCOVERY, 'endpointslices'),
  may(
    READ,
    APPS,
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  may(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  may(READ, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
  may(
    READ,
    EXTENSIONS,
    'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
  ),
  may(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  may(READ, NETWORKING, 'ingresses ingresses/status networkpolicies'),
  may(READ, DEVICES, 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  may(READ, 'events.k8s.io', 'events'),
];

const EDIT_RULES: readonly PolicyRule[] = [
  may(READ, CORE, 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  may('impersonate', CORE, 'serviceaccounts'),
  may(WRITE, CORE, 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  may('create', CORE, 'pods/eviction'),
  may(
    WRITE,
    CORE,
    'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
  ),
  may('create', CORE, 'serviceaccounts/token'),
  may(
    WRITE,
    APPS,
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  may(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
  may(WRITE, 'batch', 'cronjobs jobs'),
  may(
    WRITE,
    EXTENSIONS,
    'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
  ),
  may(WRITE, 'policy', 'poddisruptionbudgets'),
  may(WRITE, NETWORKING, 'ingresses networkpolicies'),
  may(`${READ} ${WRITE}`, COORDINATION, 'leases'),
  may(WRITE, DEVICES, 'resourceclaims resourceclaimtemplates'),
  may(WRITE, 'events.k8s.io', 'events'),
];

const ADMIN_RULES: readonly PolicyRule[] = [
  may('create', AUTHORIZATION, 'localsubjectaccessreviews'),
  may(`${READ} ${WRITE}`, RBAC, 'rolebindings roles'),
];

/** ClusterRoles whose rules are those of others. */
export const DEFAULT_AGGREGATES: readonly DefaultAggregate[] = [
  { name: 'admin' },
  { name: 'edit', partOf: 'admin' },
  { name: 'view', partOf: 'edit' },
];

/** The rules for the kubelet of every node, beyond its own objects and what its pods need. */
export const NODE_RULES: readonly PolicyRule[] = [
  REVIEW_TOKENS,
  may('create', AUTHORIZATION, 'localsubjectaccessreviews subjectaccessreviews'),
  may(READ, CORE, 'services'),
  may(`create ${READ}`, CORE, 'nodes'),
  may('patch update', CORE, 'nodes/status'),
  may('patch update', CORE, 'nodes'),
  EVENTS,
  may(READ, CORE, 'pods'),
  may('create delete', CORE, 'pods'),
  may('patch update', CORE, 'pods/status'),
  may('create', CORE, 'pods/eviction'),
  may(READ, CORE, 'configmaps secrets'),
  may('get', CORE, 'persistentvolumeclaims persistentvolumes'),
  may('get', CORE, 'endpoints'),
  may(`create ${READ}`, CERTIFICATES, 'certificatesigningrequests'),
  may('create delete get patch update', COORDINATION, 'leases'),
  may('get', STORAGE, 'volumeattachments'),
  may('create', CORE, 'serviceaccounts/token'),
  may('get patch update', CORE, 'persistentvolumeclaims/status'),
  may(READ, STORAGE, 'csidrivers'),
  may('create delete get patch update', STORAGE, 'csinodes'),
  may(READ, 'node.k8s.io', 'runtimeclasses'),
];

/**
 * The ClusterRoles that every cluster has, but for those of add-ons. Source: the policy that
 * kube-apiserver 1.36 makes at its start (plugin/pkg/auth/authorizer/rbac/bootstrappolicy).
 */
export const DEFAULT_CLUSTER_ROLES: readonly DefaultRole[] = [
  { name: 'cluster-admin', rules: [may('*', '*', '*'), { nonResourceURLs: ['*'], verbs: ['*'] }] },
  { name: 'system:aggregate-to-admin', partOf: 'admin', rules: ADMIN_RULES },
  { name: 'system:aggregate-to-edit', partOf: 'edit', rules: EDIT_RULES },
  { name: 'system:aggregate-to-view', partOf: 'view', rules: VIEW_RULES },
  { name: 'system:auth-delegator', rules: [REVIEW_TOKENS, REVIEW_ACCESS] },
  {
    name: 'system:basic-user',
    rules: [
      may('create', AUTHORIZATION, 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      may('create', AUTHENTICATION, 'selfsubjectreviews'),
    ],
  },
  signerRole('kube-apiserver-client-approver', 'kubernetes.io/kube-apiserver-client'),
  signerRole('kube-apiserver-client-kubelet-approver', 'kubernetes.io/kube-apiserver-client-kubelet'),
  signerRole('kubelet-serving-approver', 'kubernetes.io/kubelet-serving'),
  signerRole('legacy-unknown-approver', 'kubernetes.io/legacy-unknown'),
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    rules: [may('create', CERTIFICATES, 'certificatesigningrequests/nodeclient')],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    rules: [may('create', CERTIFICATES, 'certificatesigningrequests/selfnodeclient')],
  },
  {
    name: 'system:discovery',
    rules: [mayGet('/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...HEALTH)],
  },
  { name: 'system:public-info-viewer', rules: [mayGet('/.well-known', '/.well-known/*', ...HEALTH)] },
  {
    name: 'system:monitoring',
    rules: [
      mayGet(
        '/healthz',
        '/healthz/*',
        '/livez',
        '/livez/*',
        '/metrics',
        '/metrics/slis',
        '/readyz',
        '/readyz/*',
      ),
      mayGet('/flagz'),
      mayGet('/statusz'),
      may('get', CORE, 'nodes/metrics'),
    ],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      mayGet(
        '/.well-known/openid-configuration',
        '/.well-known/openid-configuration/',
        '/openid/v1/jwks',
        '/openid/v1/jwks/',
      ),
    ],
  },
  { name: 'system:kube-aggregator', rules: [may(READ, CORE, 'endpoints services')] },
  { name: 'system:kube-dns', rules: [may('list watch', CORE, 'endpoints services')] },
  {
    name: 'system:kube-controller-manager',
    rules: [
      EVENTS,
      may('create', COORDINATION, 'leases'),
      mayNamed('get update', COORDINATION, 'leases', 'kube-controller-manager'),
      may('create', CORE, 'secrets serviceaccounts'),
      may('delete', CORE, 'secrets'),
      may('get', CORE, 'configmaps namespaces secrets serviceaccounts'),
      may('update', CORE, 'secrets serviceaccounts'),
      REVIEW_TOKENS,
      REVIEW_ACCESS,
      may('list watch', '*', '*'),
      may('create', CORE, 'serviceaccounts/token'),
    ],
  },
  {
    name: 'system:kube-scheduler',
    rules: [
      EVENTS,
      may('create', COORDINATION, 'leases'),
      mayNamed(`${READ} update`, COORDINATION, 'leases', 'kube-scheduler'),
      may(`${READ} ${WRITE}`, COORDINATION, 'leasecandidates'),
      may(READ, CORE, 'nodes'),
      may(`delete ${READ}`, CORE, 'pods'),
      may('create', CORE, 'bindings pods/binding'),
      may('update', CORE, 'pods/finalizers'),
      may('patch update', CORE, 'pods/status'),
      may(READ, CORE, 'replicationcontrollers services'),
      may(READ, [APPS, EXTENSIONS], 'replicasets'),
      may(READ, APPS, 'statefulsets'),
      may(READ, 'policy', 'poddisruptionbudgets'),
      may(READ, CORE, 'persistentvolumeclaims persistentvolumes'),
      REVIEW_TOKENS,
      REVIEW_ACCESS,
      may(READ, STORAGE, 'csinodes'),
      may(READ, CORE, 'namespaces'),
      may(READ, STORAGE, 'csidrivers'),
      may(READ, STORAGE, 'csistoragecapacities'),
      may(READ, STORAGE, 'volumeattachments'),
      may(READ, DEVICES, 'deviceclasses resourceslices'),
      may(`${READ} patch update`, DEVICES, 'resourceclaims resourceclaims/status'),
      may('create delete', DEVICES, 'resourceclaims'),
      may('patch update', DEVICES, 'resourceclaims/binding'),
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      may(`${READ} patch update`, CORE, 'persistentvolumes'),
      may(READ, STORAGE, 'storageclasses'),
      may(`${READ} patch update`, CORE, 'persistentvolumeclaims'),
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      may(`create delete ${READ}`, CORE, 'persistentvolumes'),
      may(`${READ} update`, CORE, 'persistentvolumeclaims'),
      may(READ, STORAGE, 'storageclasses'),
      may('watch', CORE, 'events'),
      EVENTS,
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      may(READ, CORE, 'nodes'),
      may('proxy', CORE, 'nodes'),
      may(
        '*',
        CORE,
        'nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats',
      ),
    ],
  },
  {
    name: 'system:node',
    rules: [
      ...NODE_RULES,
      may('get', CORE, 'serviceaccounts'),
      may('get', DEVICES, 'resourceclaims'),
      may('deletecollection', DEVICES, 'resourceslices'),
    ],
  },
  {
    name: 'system:node-bootstrapper',
    rules: [may(`create ${READ}`, CERTIFICATES, 'certificatesigningrequests')],
  },
  {
    name: 'system:node-problem-detector',
    rules: [may('get', CORE, 'nodes'), may('patch', CORE, 'nodes/status'), EVENTS],
  },
  {
    name: 'system:node-proxier',
    rules: [
      may('list watch', CORE, 'endpoints services'),
      may(READ, CORE, 'nodes'),
      EVENTS,
      may('list watch', DISCOVERY, 'endpointslices'),
      may('list watch', NETWORKING, 'servicecidrs'),
    ],
  },
  ...rolesOf(CONTROLLER_ROLE_PREFIX, CONTROLLER_RULES),
  ...rolesOf(OWN_CONTROLLER_ROLE_PREFIX, OWN_CONTROLLER_RULES),
];

type RulesByAccount = Readonly<Record<string, readonly PolicyRule[]>>;

function rolesOf(prefix: string, rulesOf: RulesByAccount): DefaultRole[] {
  return Object.entries(rulesOf).map(([name, rules]) => ({ name: prefix + name, rules }));
}

function bindingsOf(prefix: string, rulesOf: RulesByAccount) {
  return Object.keys(rulesOf).map((name) => ({ role: prefix + name, subjects: [account(name)] }));
}

function roleInNamespace(prefix: string, { account: name, namespace, rules }: RulesInNamespace) {
  return { name: prefix + name, namespace, rules, subjects: [account(name)] };
}

function signerRole(name: string, signer: string): DefaultRole {
  return {
    name: `system:certificates.k8s.io:${name}`,
    rules: [mayNamed('approve', CERTIFICATES, 'signers', signer)],
  };
}

const SYSTEM = 'kube-system';

function group(name: string): DefaultSubject {
  return { kind: 'Group', name };
}

function user(name: string): DefaultSubject {
  return { kind: 'User', name };
}

function account(name: string): DefaultSubject {
  return { kind: 'ServiceAccount', name, namespace: SYSTEM };
}

/** The subjects that have a ClusterRole from the beginning; the binding has the name of the role. */
export const DEFAULT_CLUSTER_ROLE_BINDINGS: readonly {
  readonly role: string;
  readonly subjects: readonly DefaultSubject[];
}[] = [
  { role: 'cluster-admin', subjects: [group('system:masters')] },
  { role: 'system:basic-user', subjects: [group('system:authenticated')] },
  { role: 'system:discovery', subjects: [group('system:authenticated')] },
  {
    role: 'system:public-info-viewer',
    subjects: [group('system:authenticated'), group('system:unauthenticated')],
  },
  { role: 'system:monitoring', subjects: [group('system:monitoring')] },
  { role: 'system:service-account-issuer-discovery', subjects: [group('system:serviceaccounts')] },
  { role: 'system:kube-controller-manager', subjects: [user('system:kube-controller-manager')] },
  { role: 'system:kube-dns', subjects: [account('kube-dns')] },
  { role: 'system:kube-scheduler', subjects: [user('system:kube-scheduler')] },
  { role: 'system:volume-scheduler', subjects: [user('system:kube-scheduler')] },
  { role: 'system:node', subjects: [] },
  { role: 'system:node-proxier', subjects: [user('system:kube-proxy')] },
  ...bindingsOf(CONTROLLER_ROLE_PREFIX, CONTROLLER_RULES),
  ...bindingsOf(OWN_CONTROLLER_ROLE_PREFIX, OWN_CONTROLLER_RULES),
];

const MAY_ELECT: readonly PolicyRule[] = [
  may(`create ${READ} update`, COORDINATION, 'leases'),
  may(`create ${READ} update`, COORDINATION, 'leasecandidates'),
];

/** Roles of single namespaces, with the subjects that have them there from the beginning. */
export const DEFAULT_NAMESPACE_ROLES: readonly (DefaultRole & {
  readonly namespace: string;
  /** @default the name of the role */
  readonly binding?: string;
  readonly subjects: readonly DefaultSubject[];
})[] = [
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: SYSTEM,
    rules: [mayNamed(READ, CORE, 'configmaps', 'extension-apiserver-authentication')],
    binding: 'system::extension-apiserver-authentication-reader',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: SYSTEM,
    rules: MAY_ELECT,
    subjects: [
      user('system:kube-controller-manager'),
      account('kube-controller-manager'),
      account('leader-election-controller'),
    ],
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: SYSTEM,
    rules: MAY_ELECT,
    subjects: [user('system:kube-scheduler'), account('kube-scheduler')],
  },
  ...CONTROLLER_RULES_IN_NAMESPACES.map((one) => roleInNamespace(CONTROLLER_ROLE_PREFIX, one)),
  ...OWN_CONTROLLER_RULES_IN_NAMESPACES.map((one) => roleInNamespace(OWN_CONTROLLER_ROLE_PREFIX, one)),
];
