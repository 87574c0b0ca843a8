export const PROBES = ['healthz', 'livez', 'readyz'] as const;
export type Probe = (typeof PROBES)[number];

/**
 * Checks of a genuine server, in its order. Ours does what they are about before it listens, so that they are fulfilled whenever
 * it answers; those that depend on the store ask it.
 */
const HOOKS: readonly string[] = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-wait-for-first-sync',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
];
const OF_ALL: readonly string[] = [
  ...HOOKS.map((hook) => `poststarthook/${hook}`),
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** The checks of each probe. */
export const CHECKS: Readonly<Record<Probe, readonly string[]>> = {
  healthz: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...OF_ALL],
  livez: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...OF_ALL],
  readyz: ['ping', 'log', 'informer-sync', ...OF_ALL, 'shutdown'],
};

/** Checks that ask the store, under the names that the genuine server has for it. */
export const OF_STORE: ReadonlySet<string> = new Set(['etcd', 'poststarthook/storage-readiness']);
