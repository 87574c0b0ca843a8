/** A field that is emptied. */
export interface EmptiedField {
  /** Names and places in lists, with dots between. */
  readonly path: string;
  /** Its value at first. */
  readonly full: unknown;
  /** The value that a request gives it. */
  readonly empty: unknown;
  /** The value that is read then. @default nothing: Go leaves it out */
  readonly kept?: unknown;
  /** The value that is read if it is not sent, or is null. @default nothing */
  readonly unset?: unknown;
  /** Whether an apply replaces it as a whole. @default maps, and lists with keys, are merged */
  readonly isAtomic?: true;
  /** Whether a strategic merge patch replaces it as a whole. */
  readonly isReplacedByPatch?: true;
  /** Whether there is no object without it. */
  readonly isRequired?: true;
}

export interface EmptiedKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** The path of the collection. */
  readonly path: string;
  /** The fields that every object of the kind has. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly fields: readonly EmptiedField[];
  /** Whether its objects are defined by users: they are kept as they were sent, and have no protobuf and no strategic merge. */
  readonly isCustom?: boolean;
}

const inDefault = (group: string, version: string, resource: string): string =>
  `/apis/${group}/${version}/namespaces/default/${resource}`;

const LABELS = { app: 'a' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const POD = 'spec.template.spec';
const RULES = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const META = [
  { path: 'metadata.annotations', full: { a: 'b' }, empty: {} },
  { path: 'metadata.labels', full: { a: 'b' }, empty: {} },
];

const CONTAINERS: EmptiedField = {
  path: `${POD}.containers`,
  isRequired: true,
  full: [{ name: 'c', image: 'i', tty: true, args: ['a'], env: [{ name: 'A', value: 'b' }] }],
  empty: [{ name: 'c', image: 'i', tty: false, args: [], env: [{ name: 'A', value: '' }] }],
  kept: [
    {
      name: 'c',
      image: 'i',
      env: [{ name: 'A' }],
      imagePullPolicy: 'Always',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    },
  ],
};

/** The kinds of values that Go's types have, in kinds that people write. Source of each: its type in k8s.io/api. */
export const BUILT_IN: readonly EmptiedKind[] = [
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    path: inDefault('apps', 'v1', 'deployments'),
    base: { spec: { selector: { matchLabels: LABELS }, template: TEMPLATE } },
    fields: [
      ...META,
      { path: 'spec.replicas', full: 3, empty: 0, kept: 0, unset: 1 },
      { path: 'spec.minReadySeconds', full: 7, empty: 0 },
      { path: 'spec.paused', full: true, empty: false },
      { path: 'spec.revisionHistoryLimit', full: 3, empty: 0, kept: 0, unset: 10 },
      { path: `${POD}.hostNetwork`, full: true, empty: false },
      { path: `${POD}.terminationGracePeriodSeconds`, full: 7, empty: 0, kept: 0, unset: 30 },
      { path: `${POD}.tolerations`, full: [{ operator: 'Exists' }], empty: [] },
      { path: `${POD}.nodeSelector`, full: { a: 'b' }, empty: {}, isAtomic: true },
      { path: `${POD}.securityContext`, full: { runAsUser: 1 }, empty: {}, kept: {}, unset: {} },
      { path: `${POD}.affinity`, full: { nodeAffinity: {} }, empty: {}, kept: {} },
      { path: `${POD}.automountServiceAccountToken`, full: true, empty: false, kept: false },
      { path: `${POD}.hostname`, full: 'h', empty: '' },
      { path: `${POD}.setHostnameAsFQDN`, full: true, empty: false, kept: false },
      {
        path: `${POD}.schedulerName`,
        full: 's',
        empty: '',
        kept: 'default-scheduler',
        unset: 'default-scheduler',
      },
      CONTAINERS,
    ],
  },
  {
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    path: inDefault('apps', 'v1', 'statefulsets'),
    base: { spec: { selector: { matchLabels: LABELS }, template: TEMPLATE, serviceName: 's' } },
    fields: [
      { path: 'spec.replicas', full: 3, empty: 0, kept: 0, unset: 1 },
      { path: 'spec.minReadySeconds', full: 7, empty: 0 },
      { path: 'spec.ordinals', full: { start: 3 }, empty: { start: 0 }, kept: { start: 0 } },
      {
        path: 'spec.updateStrategy',
        full: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
        empty: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        kept: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        unset: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      },
    ],
  },
  {
    kind: 'Job',
    apiVersion: 'batch/v1',
    path: inDefault('batch', 'v1', 'jobs'),
    base: {
      spec: {
        completions: 3,
        manualSelector: true,
        selector: { matchLabels: LABELS },
        template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } },
      },
    },
    fields: [
      { path: 'spec.parallelism', full: 3, empty: 0, kept: 0, unset: 1 },
      { path: 'spec.backoffLimit', full: 3, empty: 0, kept: 0, unset: 6 },
      { path: 'spec.suspend', full: true, empty: false, kept: false, unset: false },
      { path: 'spec.ttlSecondsAfterFinished', full: 5000, empty: 0, kept: 0 },
    ],
  },
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/configmaps',
    base: {},
    fields: [
      ...META,
      { path: 'data', full: { a: 'b' }, empty: {} },
      { path: 'binaryData', full: { b: 'YQ==' }, empty: {} },
    ],
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/secrets',
    base: { type: 'Opaque' },
    fields: [{ path: 'data.k', full: 'YQ==', empty: '', kept: '', isRequired: true }],
  },
  {
    kind: 'Service',
    apiVersion: 'v1',
    path: '/api/v1/namespaces/default/services',
    base: { spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], clusterIP: 'None' } },
    fields: [
      { path: 'spec.selector', full: { a: 'b' }, empty: {}, isAtomic: true },
      { path: 'spec.publishNotReadyAddresses', full: true, empty: false },
      { path: 'spec.externalIPs', full: ['8.8.8.8'], empty: [] },
    ],
  },
  {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    path: inDefault('policy', 'v1', 'poddisruptionbudgets'),
    base: {},
    fields: [
      { path: 'spec.minAvailable', full: 3, empty: 0, kept: 0 },
      {
        path: 'spec.selector',
        full: { matchLabels: LABELS },
        empty: {},
        kept: {},
        isReplacedByPatch: true,
        isAtomic: true,
      },
    ],
  },
  {
    kind: 'NetworkPolicy',
    apiVersion: 'networking.k8s.io/v1',
    path: inDefault('networking.k8s.io', 'v1', 'networkpolicies'),
    base: {},
    fields: [
      {
        path: 'spec.podSelector',
        full: { matchLabels: LABELS },
        empty: {},
        kept: {},
        unset: {},
        isAtomic: true,
      },
      { path: 'spec.ingress', full: [{ ports: [{ port: 1, protocol: 'TCP' }] }], empty: [{}], kept: [{}] },
      { path: 'spec.egress', full: [{}], empty: [] },
    ],
  },
  {
    kind: 'Role',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    path: inDefault('rbac.authorization.k8s.io', 'v1', 'roles'),
    base: {},
    fields: [{ path: 'rules', full: RULES, empty: [], kept: null, unset: null }],
  },
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    path: inDefault('coordination.k8s.io', 'v1', 'leases'),
    base: { spec: { leaseDurationSeconds: 5 } },
    fields: [
      { path: 'spec.holderIdentity', full: 'a', empty: '', kept: '' },
      { path: 'spec.leaseTransitions', full: 3, empty: 0, kept: 0 },
    ],
  },
  {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    path: inDefault('discovery.k8s.io', 'v1', 'endpointslices'),
    base: { addressType: 'IPv4' },
    fields: [
      {
        path: 'endpoints',
        full: [{ addresses: ['10.1.1.1'], conditions: { ready: true }, hostname: 'h' }],
        empty: [{ addresses: ['10.1.1.1'], conditions: { ready: false }, deprecatedTopology: {} }],
        kept: [{ addresses: ['10.1.1.1'], conditions: { ready: false } }],
        unset: null,
      },
      { path: 'ports', full: [{ port: 1, protocol: 'TCP', name: 'a' }], empty: [], kept: null, unset: null },
    ],
  },
  {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    path: '/apis/storage.k8s.io/v1/storageclasses',
    base: { provisioner: 'a.b/c', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
    fields: [{ path: 'allowVolumeExpansion', full: true, empty: false, kept: false }],
  },
  {
    kind: 'Node',
    apiVersion: 'v1',
    path: '/api/v1/nodes',
    base: {},
    fields: [{ path: 'spec.unschedulable', full: true, empty: false }],
  },
];

/** A kind that users define: nothing is left out. */
export const CUSTOM: EmptiedKind = {
  kind: 'Thing',
  apiVersion: 'empties.example.org/v1',
  path: inDefault('empties.example.org', 'v1', 'things'),
  base: { spec: { name: 'n' } },
  isCustom: true,
  fields: [
    { path: 'spec.flag', full: true, empty: false, kept: false },
    { path: 'spec.count', full: 3, empty: 0, kept: 0 },
    { path: 'spec.text', full: 'a', empty: '', kept: '' },
    { path: 'spec.list', full: ['a'], empty: [], kept: [] },
    { path: 'spec.map', full: { a: 'b' }, empty: {}, kept: {} },
    { path: 'spec.any', full: { a: 'b' }, empty: {}, kept: {} },
    { path: 'spec.size', full: 3, empty: 0, kept: 0, unset: 7 },
  ],
};

export const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.empties.example.org' },
  spec: {
    group: 'empties.example.org',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  name: { type: 'string' },
                  flag: { type: 'boolean', nullable: true },
                  count: { type: 'integer', nullable: true },
                  text: { type: 'string', nullable: true },
                  list: { type: 'array', nullable: true, items: { type: 'string' } },
                  map: { type: 'object', nullable: true, additionalProperties: { type: 'string' } },
                  any: { nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
                  size: { type: 'integer', default: 7 },
                },
              },
            },
          },
        },
      },
    ],
  },
};
