import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const METADATA = { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } };
const EVERYTHING = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const LEASES = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] };
const ANYBODY = groups('system:unauthenticated', 'system:authenticated');
const KUBE_SYSTEM = [{ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } }];

/**
 * The initial objects of a genuine server. Here it is stored, and has no effect. Source:
 * apiserver/pkg/apis/flowcontrol/bootstrap.
 */
export const FLOW_CONTROL: readonly UnstructuredObject[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
  level('system', queued(30, 33, { queues: 64, handSize: 6 })),
  level('node-high', queued(40, 25, { queues: 64, handSize: 6 })),
  level('leader-election', queued(10, 0, { queues: 16, handSize: 4 })),
  level('workload-high', queued(40, 50, { queues: 128, handSize: 6 })),
  level('workload-low', queued(100, 90, { queues: 128, handSize: 6 })),
  level('global-default', queued(20, 50, { queues: 128, handSize: 6 })),
  schema('exempt', 'exempt', 1, undefined, { subjects: groups('system:masters'), ...EVERYTHING }),
  schema('probes', 'exempt', 2, undefined, {
    subjects: ANYBODY,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', {
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...KUBE_SYSTEM],
    resourceRules: [{ verbs: ['get', 'create', 'update'], ...LEASES }],
  }),
  schema('system-node-high', 'node-high', 400, 'ByUser', {
    subjects: groups('system:nodes'),
    resourceRules: [
      {
        verbs: ['*'],
        apiGroups: [''],
        resources: ['nodes', 'nodes/status'],
        namespaces: ['*'],
        clusterScope: true,
      },
      { verbs: ['*'], ...LEASES },
    ],
  }),
  schema('system-nodes', 'system', 500, 'ByUser', { subjects: groups('system:nodes'), ...EVERYTHING }),
  schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-controller-manager'),
    ...EVERYTHING,
  }),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-scheduler'),
    ...EVERYTHING,
  }),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', {
    subjects: KUBE_SYSTEM,
    ...EVERYTHING,
  }),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', {
    subjects: groups('system:serviceaccounts'),
    ...EVERYTHING,
  }),
  schema('global-default', 'global-default', 9900, 'ByUser', { subjects: ANYBODY, ...EVERYTHING }),
  schema('catch-all', 'catch-all', 10_000, 'ByUser', { subjects: ANYBODY, ...EVERYTHING }),
];

function level(name: string, spec: object): UnstructuredObject {
  return {
    apiVersion: API_VERSION,
    kind: 'PriorityLevelConfiguration',
    metadata: { name, ...METADATA },
    spec,
  };
}

function queued(
  shares: number,
  lendablePercent: number,
  queuing: { readonly queues: number; readonly handSize: number },
): object {
  const limitResponse = { type: 'Queue', queuing: { ...queuing, queueLengthLimit: 50 } };
  return { type: 'Limited', limited: { nominalConcurrencyShares: shares, lendablePercent, limitResponse } };
}

function schema(
  name: string,
  priorityLevel: string,
  matchingPrecedence: number,
  distinguishedBy: 'ByUser' | 'ByNamespace' | undefined,
  rule: object,
): UnstructuredObject {
  return {
    apiVersion: API_VERSION,
    kind: 'FlowSchema',
    metadata: { name, ...METADATA },
    spec: {
      priorityLevelConfiguration: { name: priorityLevel },
      matchingPrecedence,
      ...(distinguishedBy && { distinguisherMethod: { type: distinguishedBy } }),
      rules: [rule],
    },
  };
}

function groups(...names: readonly string[]): object[] {
  return names.map((name) => ({ kind: 'Group', group: { name } }));
}

function users(...names: readonly string[]): object[] {
  return names.map((name) => ({ kind: 'User', user: { name } }));
}
