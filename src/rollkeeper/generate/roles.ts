import type { PolicyRule } from '@rollkeeper/runtime';

export interface RoleOptions {
  /** The name of the operator: names roles, bindings and the service account. */
  readonly name: string;
  /** The namespace of the operator itself: where the service account and the Lease are. */
  readonly namespace: string;
  /** The namespaces in which its controllers work. Empty: in the whole cluster. */
  readonly namespaces: readonly string[];
  /** Whether its lease, and what leaders leave to each other, are in the API. */
  readonly hasLease: boolean;
  /** Whether its replicas share a Redis, whose keys are guarded against those of another cluster. @default false */
  readonly onRedis?: boolean;
  /**
   * The work of its `webhookServer` on configurations. @default it has none, or leaves them alone and has its
   * certificate from elsewhere
   */
  readonly webhooks?: 'apply' | 'patch';
  /** Names of the CustomResourceDefinitions that its webhooks convert. @default none */
  readonly converted?: readonly string[];
}

const RBAC = 'rbac.authorization.k8s.io';
const API_VERSION = `${RBAC}/v1`;

/**
 * A service account with the rights that an operator needs: in the cluster, or in each of its namespaces; and what it needs
 * where it runs, for its Lease and its Events.
 */
export function rolesOf(rules: readonly PolicyRule[], options: RoleOptions): readonly object[] {
  const { name, namespace, namespaces } = options;
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
  const granted = mergedRules(rules);
  const where =
    namespaces.length === 0
      ? grant({ kind: 'ClusterRole', name, rules: granted, options })
      : namespaces.flatMap((each) => grant({ kind: 'Role', name, namespace: each, rules: granted, options }));
  const own = grant({ kind: 'Role', name: `${name}-leader`, namespace, rules: ownRules(options), options });
  return [account, ...where, ...own, ...ofRedis(options), ...ofWebhooks(options)];
}

/** A cluster is known by the UID of this namespace. */
const IDENTITY = {
  ...{ apiGroups: [''], resources: ['namespaces'] },
  ...{ resourceNames: ['kube-system'], verbs: ['get'] },
};

function ofRedis(options: RoleOptions): readonly object[] {
  if (!options.onRedis) return [];
  return grant({ kind: 'ClusterRole', name: `${options.name}-redis`, rules: [IDENTITY], options });
}

const CONFIGURATIONS = {
  apiGroups: ['admissionregistration.k8s.io'],
  resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
};
const VERBS_OF_WEBHOOKS = {
  apply: { all: ['create'], own: ['get', 'patch', 'delete'] },
  patch: { all: [], own: ['get', 'update'] },
} as const;

/** The certificate of the webhooks is in a Secret, and their configurations are of the whole cluster. */
function ofWebhooks(options: RoleOptions): readonly object[] {
  const { converted = [], name: operator, namespace, webhooks } = options;
  if (!webhooks) return [];
  const { all, own } = VERBS_OF_WEBHOOKS[webhooks];
  const name = `${operator}-webhooks`;
  const secrets = { apiGroups: [''], resources: ['secrets'] };
  const definitions = { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] };
  return [
    ...grant({
      ...{ kind: 'Role', name, namespace, options },
      rules: [
        { ...secrets, verbs: ['create'] },
        { ...secrets, resourceNames: [name], verbs: ['get', 'update'] },
      ],
    }),
    ...grant({
      ...{ kind: 'ClusterRole', name, options },
      rules: [
        ...(all.length > 0 ? [{ ...CONFIGURATIONS, verbs: all }] : []),
        { ...CONFIGURATIONS, resourceNames: [operator], verbs: own },
        ...(converted.length > 0
          ? [{ ...definitions, resourceNames: converted, verbs: ['get', 'patch'] }]
          : []),
      ],
    }),
  ];
}

function ownRules({ hasLease, name }: RoleOptions): readonly object[] {
  const events = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] };
  if (!hasLease) return [events];
  const coordination = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  return [
    { ...coordination, verbs: ['create', 'list', 'watch'] },
    { ...coordination, resourceNames: [name], verbs: ['get', 'update'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    {
      ...{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'update'] },
      resourceNames: [0, 1, 2, 3].map((index) => `${name}-intents-${index}`),
    },
    events,
  ];
}

interface Grant {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
  readonly namespace?: string;
  readonly rules: readonly object[];
  readonly options: RoleOptions;
}

function grant({ kind, name, namespace, options, rules }: Grant): readonly object[] {
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return [
    { apiVersion: API_VERSION, kind, metadata, rules },
    {
      apiVersion: API_VERSION,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ kind: 'ServiceAccount', name: options.name, namespace: options.namespace }],
    },
  ];
}

/** Resources of one group with the same verbs in one rule, as people write it. */
function mergedRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const verbsOf = new Map<string, Set<string>>();
  for (const { apiGroups, resources, verbs } of rules)
    for (const group of apiGroups)
      for (const resource of resources) {
        const key = `${group} ${resource}`;
        verbsOf.set(key, new Set([...(verbsOf.get(key) ?? []), ...verbs]));
      }
  const byVerbs = new Map<string, { group: string; verbs: string[]; resources: string[] }>();
  for (const [key, set] of [...verbsOf].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [group = '', resource = ''] = key.split(' ');
    const verbs = [...set].sort();
    const name = `${group} ${verbs.join()}`;
    const entry = byVerbs.get(name) ?? { group, verbs, resources: [] };
    byVerbs.set(name, entry);
    entry.resources.push(resource);
  }
  return [...byVerbs.values()].map(({ group, resources, verbs }) => ({
    apiGroups: [group],
    resources,
    verbs,
  }));
}
