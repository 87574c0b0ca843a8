/** One request that a replica makes, as RBAC names it. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  /** With a subresource: `deployments/status`. */
  readonly resource: string;
  /** Only in this namespace. @default the installation's, or everywhere */
  readonly namespace?: string;
  /** Only this object. */
  readonly name?: string;
}

/** The facts of an installation that decide which rights it needs. */
export interface Installation {
  readonly controllers: readonly string[];
  /** `apps`, `rollkeeper.dev`. */
  readonly deploymentGroups: readonly string[];
  /** Empty: the whole cluster. */
  readonly namespaces: readonly string[];
  /** Whether the keys in Redis are guarded by a word of the operator, so that kube-system is not read. */
  readonly hasClusterIdentity: boolean;
  readonly restartOnConfig: boolean;
  readonly pinConfig: boolean;
  readonly respectDisruptionBudgets: boolean;
  readonly rolloutChecks: boolean;
  readonly checkSecrets: boolean;
  /** Whether hosts are allowed for notifications, whose channels are Secrets. */
  readonly notifications: boolean;
  readonly blueGreen: boolean;
  readonly traffic: boolean;
  /** Whether experiments may have Services. */
  readonly experimentServices: boolean;
  readonly zones: boolean;
  readonly statefulSets: boolean;
  readonly daemonSets: boolean;
  readonly lastingHistory: boolean;
  readonly watchAdmission: boolean;
  readonly evictionRequests: boolean;
  /** Whether all kinds are looked at for problems. */
  readonly looksAtAllKinds: boolean;
  /** The webhook that holds evictions, if the certificate is made here. */
  readonly evictionWebhook?: { readonly configuration: string; readonly namespace: string };
  /** The place of the Lease, with `--leader-elect-resource-lock leases`. */
  readonly lease?: { readonly namespace: string; readonly name: string };
}

const GATEWAY_GROUP = 'gateway.networking.k8s.io';

/** The owner of rights: all replicas (caches, Events, the Lease), or a controller. */
export type RightsOwner = 'replica' | 'deployment' | 'replicaset' | 'garbage-collector' | 'namespace';

/** The rights of one owner, by which its part of the chart's roles is made. */
interface OwnedRights {
  readonly owner: RightsOwner;
  readonly rights: readonly NeededRight[];
}

/** The controllers whose rights are known here; the others work in a standalone cluster, with all rights. */
export const KNOWN_CONTROLLERS: readonly RightsOwner[] = [
  'deployment',
  'replicaset',
  'garbage-collector',
  'namespace',
];

/** The rights that the replicas of an installation need: what the chart grants for the same options. */
export function neededRights(installation: Installation): readonly OwnedRights[] {
  const own = KNOWN_CONTROLLERS.filter((name) => installation.controllers.includes(name));
  return [
    { owner: 'replica', rights: replicaRights(installation) },
    ...own.map((owner) => ({ owner, rights: controllerRights(owner, installation) })),
  ];
}

function replicaRights(installation: Installation): readonly NeededRight[] {
  const { blueGreen, deploymentGroups, experimentServices, hasClusterIdentity, lease, namespaces, traffic } =
    installation;
  const isWhole = namespaces.length === 0;
  return [
    ...deploymentGroups.flatMap((group) => rights('list watch', group, 'deployments')),
    ...rights('list watch', 'apps', 'replicasets'),
    ...rights('list watch', '', 'pods resourcequotas'),
    ...(installation.restartOnConfig ? rights('list watch', '', 'configmaps secrets') : []),
    ...(installation.respectDisruptionBudgets ? rights('list watch', 'policy', 'poddisruptionbudgets') : []),
    ...(blueGreen || traffic || experimentServices ? rights('list watch', '', 'services') : []),
    ...(traffic ? rights('list watch', GATEWAY_GROUP, 'httproutes grpcroutes') : []),
    ...(installation.evictionRequests ? rights('list watch', 'lifecycle.k8s.io', 'evictions') : []),
    ...(installation.statefulSets ? rights('list watch', 'apps', 'statefulsets controllerrevisions') : []),
    ...(installation.daemonSets ? rights('list watch', 'apps', 'daemonsets controllerrevisions') : []),
    ...((installation.zones || installation.daemonSets) && isWhole ? rights('list watch', '', 'nodes') : []),
    ...rights('list watch', '', 'limitranges serviceaccounts'),
    ...(isWhole ? obstacleRightsOfCluster() : []),
    ...(isWhole && !hasClusterIdentity
      ? rights('get', '', 'namespaces').map((right) => ({ ...right, name: 'kube-system' }))
      : []),
    ...(installation.looksAtAllKinds ? problemRights(isWhole) : []),
    ...rights('create patch', '', 'events'),
    ...(installation.evictionWebhook ? webhookRights(installation.evictionWebhook) : []),
    ...(lease ? leaseRights(lease) : []),
  ];
}

/** Watches of what may refuse a write, and of namespaces, whose annotations are also defaults for rollouts. */
function obstacleRightsOfCluster(): readonly NeededRight[] {
  const admission = [
    'validatingadmissionpolicies validatingadmissionpolicybindings',
    'mutatingadmissionpolicies mutatingadmissionpolicybindings',
    'validatingwebhookconfigurations mutatingwebhookconfigurations',
  ];
  return [
    ...rights('list watch', '', 'namespaces'),
    ...rights('list watch', 'admissionregistration.k8s.io', admission.join(' ')),
    ...rights('list watch', 'scheduling.k8s.io', 'priorityclasses'),
    ...rights('list watch', 'node.k8s.io', 'runtimeclasses'),
    ...rights('list watch', 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ];
}

/** Lists of what `findProblems` looks at; a test compares them with what the kinds say that they need. */
function problemRights(isWhole: boolean): readonly NeededRight[] {
  return [
    ...rights(
      'list',
      '',
      'events pods services persistentvolumeclaims replicationcontrollers resourcequotas',
    ),
    ...rights('list', 'apps', 'replicasets statefulsets daemonsets'),
    ...rights('list', 'batch', 'jobs cronjobs'),
    ...rights('list', 'autoscaling', 'horizontalpodautoscalers'),
    ...rights('list', 'policy', 'poddisruptionbudgets'),
    ...rights('list', 'discovery.k8s.io', 'endpointslices'),
    ...(isWhole ? problemRightsOfCluster() : []),
  ];
}

function problemRightsOfCluster(): readonly NeededRight[] {
  const admission = 'validatingwebhookconfigurations mutatingwebhookconfigurations';
  return [
    ...rights('list', '', 'nodes namespaces persistentvolumes'),
    ...rights('list', 'storage.k8s.io', 'storageclasses'),
    ...rights('list', 'apiregistration.k8s.io', 'apiservices'),
    ...rights('list', 'admissionregistration.k8s.io', admission),
    ...rights('list', 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ];
}

function webhookRights({
  configuration: name,
  namespace,
}: NonNullable<Installation['evictionWebhook']>): readonly NeededRight[] {
  const group = 'admissionregistration.k8s.io';
  return [
    ...rights('get update', group, 'validatingwebhookconfigurations').map((right) => ({ ...right, name })),
    ...rights('create', '', 'secrets').map((right) => ({ ...right, namespace })),
    ...rights('get update', '', 'secrets').map((right) => ({ ...right, namespace, name: `${name}-tls` })),
  ];
}

function leaseRights({ name, namespace }: { name: string; namespace: string }): readonly NeededRight[] {
  const group = 'coordination.k8s.io';
  return [
    ...rights('create list watch', group, 'leases').map((right) => ({ ...right, namespace })),
    ...rights('get update', group, 'leases').map((right) => ({ ...right, namespace, name })),
  ];
}

function controllerRights(owner: RightsOwner, installation: Installation): readonly NeededRight[] {
  switch (owner) {
    case 'deployment':
      return deploymentRights(installation);
    case 'replicaset':
      return [
        ...rights('get', 'apps', 'replicasets'),
        ...rights('update', 'apps', 'replicasets/status replicasets/finalizers'),
        ...rights('get create patch delete', '', 'pods'),
      ];
    case 'garbage-collector':
      return rights('get list watch patch delete', '*', '*');
    case 'namespace':
      return [
        ...rights('get list watch', '', 'namespaces'),
        ...rights('update', '', 'namespaces/finalize namespaces/status'),
        ...rights('list delete deletecollection', '*', '*'),
      ];
    case 'replica':
      return [];
  }
}

function deploymentRights(installation: Installation): readonly NeededRight[] {
  const { blueGreen, deploymentGroups, lastingHistory, respectDisruptionBudgets, rolloutChecks, traffic } =
    installation;
  return [
    ...deploymentGroups.flatMap((group) => [
      ...rights('get update', group, 'deployments'),
      ...rights('update', group, 'deployments/status deployments/finalizers'),
    ]),
    ...rights('get create update delete', 'apps', 'replicasets'),
    ...(respectDisruptionBudgets
      ? [
          ...rights('get', 'policy', 'poddisruptionbudgets'),
          ...rights('update', 'policy', 'poddisruptionbudgets/status'),
        ]
      : []),
    ...(installation.pinConfig ? rights('get create', '', 'configmaps secrets') : []),
    ...(rolloutChecks ? [...rights('get', '', 'configmaps'), ...rights('get create', 'batch', 'jobs')] : []),
    ...(installation.checkSecrets || installation.notifications ? rights('get', '', 'secrets') : []),
    ...(blueGreen || traffic ? rights('get patch', '', 'services') : []),
    ...(traffic
      ? [
          ...rights('patch', GATEWAY_GROUP, 'httproutes grpcroutes'),
          ...rights('create', '', 'services'),
          ...rights('list', 'discovery.k8s.io', 'endpointslices'),
        ]
      : []),
    ...(installation.experimentServices ? rights('get create', '', 'services') : []),
    ...(lastingHistory ? rights('get create update', '', 'configmaps') : []),
    ...(installation.daemonSets
      ? [
          ...rights('get update patch', 'apps', 'daemonsets controllerrevisions'),
          ...rights('delete', '', 'pods'),
        ]
      : []),
    ...(installation.statefulSets
      ? [
          ...rights('get update patch', 'apps', 'statefulsets controllerrevisions'),
          ...rights('delete', '', 'pods'),
        ]
      : []),
    ...(installation.watchAdmission
      ? [
          ...rights('create', '', 'pods'),
          ...deploymentGroups.flatMap((group) => rights('patch', group, 'deployments')),
        ]
      : []),
    ...(installation.evictionRequests
      ? [
          ...rights('get patch', '', 'pods'),
          ...rights('get', 'lifecycle.k8s.io', 'evictions'),
          ...rights('patch', 'lifecycle.k8s.io', 'evictions/status'),
        ]
      : []),
    ...(installation.evictionWebhook ? rights('patch', '', 'pods') : []),
  ];
}

function rights(verbs: string, group: string, resources: string): readonly NeededRight[] {
  return resources
    .split(' ')
    .flatMap((resource) => verbs.split(' ').map((verb) => ({ verb, group, resource })));
}

/** `update deployments.apps/status`, as `kubectl auth can-i` takes it. */
export function describeRight({ group, name, namespace, resource, verb }: NeededRight): string {
  const [base = '', subresource] = resource.split('/');
  const qualified = group === '' || group === '*' ? base : `${base}.${group}`;
  return [
    `${verb} ${qualified}${name === undefined ? '' : `/${name}`}`,
    ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
    ...(namespace === undefined ? [] : [`-n ${namespace}`]),
  ].join(' ');
}
