import { parseWebhookAddress } from '../../replica/eviction-webhook.js';
import type { Installation, RightsOwner } from './needed-rights.js';
import type { SubjectOf } from './read-rights.js';

/** The part of `GET /admin/config` that matters here; options by their names. */
export interface ReplicaConfig {
  readonly controllers?: readonly string[];
  readonly 'deployment-api'?: unknown;
  readonly scope?: { readonly namespaces?: readonly string[] };
  readonly standalone?: boolean;
  readonly 'cluster-identity'?: string;
  readonly 'restart-on-config'?: boolean;
  readonly 'pin-config'?: boolean;
  readonly 'respect-disruption-budgets'?: boolean;
  readonly 'rollout-checks'?: boolean;
  readonly 'check-secrets'?: boolean;
  readonly 'notification-hosts'?: string;
  readonly 'blue-green'?: boolean;
  readonly traffic?: boolean;
  readonly 'experiment-services'?: boolean;
  readonly zones?: boolean;
  readonly 'stateful-sets'?: boolean;
  readonly 'daemon-sets'?: boolean;
  readonly 'lasting-history'?: boolean;
  readonly 'watch-admission'?: boolean;
  readonly 'eviction-requests'?: boolean;
  readonly problems?: string;
  readonly 'eviction-webhook'?: string;
  readonly 'eviction-webhook-configuration'?: string;
  readonly 'eviction-webhook-tls-cert-file'?: string;
  readonly 'leader-elect-resource-lock'?: string;
  readonly 'leader-elect-resource-name'?: string;
  readonly 'leader-elect-resource-namespace'?: string;
  readonly 'use-service-account-credentials'?: boolean;
  readonly 'service-account-namespace'?: string;
  readonly 'service-account-prefix'?: string;
}

/** Beside a replica that says nothing, what the chart installs by default is taken for granted. */
export function installationOf(
  config: ReplicaConfig | undefined,
  controllers: readonly string[],
): Installation {
  const apis = apisIn(config?.['deployment-api']);
  return {
    controllers: config?.controllers ?? controllers,
    deploymentGroups: apis.map((api) => api.split('/')[0] ?? api),
    namespaces: config?.scope?.namespaces ?? [],
    hasClusterIdentity: (config?.['cluster-identity'] ?? '') !== '',
    restartOnConfig: config?.['restart-on-config'] === true || config?.['pin-config'] === true,
    pinConfig: config?.['pin-config'] === true,
    respectDisruptionBudgets: config?.['respect-disruption-budgets'] === true,
    rolloutChecks: config?.['rollout-checks'] === true,
    checkSecrets: config?.['rollout-checks'] === true && config['check-secrets'] === true,
    notifications: (config?.['notification-hosts'] ?? '') !== '',
    blueGreen: config?.['blue-green'] === true,
    traffic: config?.traffic === true,
    experimentServices: config?.['experiment-services'] === true,
    zones: config?.zones === true,
    statefulSets: config?.['stateful-sets'] === true,
    daemonSets: config?.['daemon-sets'] === true,
    lastingHistory: config?.['lasting-history'] === true,
    watchAdmission: config?.['watch-admission'] === true,
    evictionRequests: config?.['eviction-requests'] === true,
    looksAtAllKinds: config?.problems === 'all',
    ...evictionWebhookOf(config),
    ...(config?.['leader-elect-resource-lock'] === 'leases' && {
      lease: {
        namespace: config['leader-elect-resource-namespace'] ?? 'kube-system',
        name: config['leader-elect-resource-name'] ?? 'rollkeeper',
      },
    }),
  };
}

/** One that makes its own configuration, or has a certificate from elsewhere, is not the chart's. */
function evictionWebhookOf(config: ReplicaConfig | undefined): Pick<Installation, 'evictionWebhook'> {
  const { 'eviction-webhook': address, 'eviction-webhook-configuration': configuration } = config ?? {};
  if (address === undefined || configuration === undefined) return {};
  if (config?.['eviction-webhook-tls-cert-file'] !== undefined) return {};
  const reachedAt = parseWebhookAddress(address, 'eviction-webhook');
  return 'url' in reachedAt
    ? {}
    : { evictionWebhook: { configuration, namespace: reachedAt.service.namespace } };
}

function apisIn(option: unknown): readonly string[] {
  if (Array.isArray(option)) return option.map(String);
  return typeof option === 'string' && option !== '' ? option.split(',') : ['apps/v1'];
}

/** As kube-controller-manager names the accounts of its controllers. */
const ACCOUNTS: Readonly<Record<Exclude<RightsOwner, 'replica'>, string>> = {
  deployment: 'deployment-controller',
  replicaset: 'replicaset-controller',
  'garbage-collector': 'generic-garbage-collector',
  namespace: 'namespace-controller',
};

/** The accounts whose rights each owner works with. */
export function subjectsOf(
  config: ReplicaConfig | undefined,
  serviceAccount: { readonly namespace: string; readonly name: string } | undefined,
): SubjectOf {
  const own = serviceAccount && userOf(serviceAccount.namespace, serviceAccount.name);
  return (owner) => {
    if (owner === 'replica' || config?.['use-service-account-credentials'] !== true) return own;
    const namespace = config['service-account-namespace'] ?? 'kube-system';
    return userOf(namespace, `${config['service-account-prefix'] ?? ''}${ACCOUNTS[owner]}`);
  };
}

function userOf(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}
