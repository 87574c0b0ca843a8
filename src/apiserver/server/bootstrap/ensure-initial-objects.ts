import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { DEFAULT_STORAGE_CLASS, SIMULATED_PROVISIONER } from '@rollkeeper/machinery/kubernetes';
import { SERVICE_NETWORKS } from '../../kinds/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import { ensureDefaultPolicy } from './ensure-default-policy.js';
import { ensureObject, unlessRefused } from './ensure-object.js';
import { FLOW_CONTROL } from './flow-control.js';
import { ensureDefaultServiceAccount } from '../../objects/registry/index.js';

/** Priorities of groups and of their versions, by which clients choose among them. Source: pkg/controlplane/apiserver/aggregator.go. */
const PRIORITIES: readonly (readonly [group: string, version: string, group: number, version: number])[] = [
  ['', 'v1', 18_000, 1],
  ['apps', 'v1', 17_800, 15],
  ['events.k8s.io', 'v1', 17_750, 15],
  ['authentication.k8s.io', 'v1', 17_700, 15],
  ['authorization.k8s.io', 'v1', 17_600, 15],
  ['autoscaling', 'v1', 17_500, 15],
  ['autoscaling', 'v2', 17_500, 30],
  ['batch', 'v1', 17_400, 15],
  ['certificates.k8s.io', 'v1', 17_300, 15],
  ['networking.k8s.io', 'v1', 17_200, 15],
  ['policy', 'v1', 17_100, 15],
  ['rbac.authorization.k8s.io', 'v1', 17_000, 15],
  ['storage.k8s.io', 'v1', 16_800, 15],
  ['admissionregistration.k8s.io', 'v1', 16_700, 15],
  ['apiextensions.k8s.io', 'v1', 16_700, 15],
  ['scheduling.k8s.io', 'v1', 16_600, 15],
  ['coordination.k8s.io', 'v1', 16_500, 15],
  ['node.k8s.io', 'v1', 16_300, 15],
  ['discovery.k8s.io', 'v1', 16_200, 15],
  ['resource.k8s.io', 'v1', 16_200, 20],
  ['flowcontrol.apiserver.k8s.io', 'v1', 16_100, 21],
];

/** The built-in groups, as a genuine server registers them with itself. */
const LOCAL_API_SERVICES: readonly UnstructuredObject[] = PRIORITIES.map(
  ([group, version, groupPriorityMinimum, versionPriority]) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {
      name: `${version}.${group}`,
      labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' },
    },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority },
  }),
);

/** Creates the objects that a genuine server creates at its start, if they are missing. */
export async function ensureInitialObjects(context: RegistryContext): Promise<void> {
  await ensureInitialNamespaces(context);
  await Promise.all([
    ensureDefaultPolicy(context),
    ...PRIORITY_CLASSES.map((object) => ensureOwn(context, object)),
    ensureOwn(context, KUBERNETES_SERVICE),
    ensureOwn(context, SERVICE_NETWORK),
    ...[...FLOW_CONTROL, ...LOCAL_API_SERVICES].map((object) => ensureOwn(context, object)),
    ensureStorageClass(context),
  ]);
}

async function ensureOwn(context: RegistryContext, wanted: Readonly<UnstructuredObject>): Promise<void> {
  await unlessRefused(context, wanted, () => ensureObject(context, wanted));
}

/** Pods of these classes go before all others, and cannot be named by those of people. */
const PRIORITY_CLASSES: readonly UnstructuredObject[] = [
  priorityClass('system-cluster-critical', 2_000_000_000, 'the cluster'),
  priorityClass('system-node-critical', 2_000_001_000, 'their node'),
];

function priorityClass(name: string, value: number, what: string): UnstructuredObject {
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description: `For pods without which ${what} does not work.`,
  };
}

/** How pods find the API: the first address of the range for Services. */
const KUBERNETES_SERVICE: UnstructuredObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
};

/** The network from which Services get their addresses. */
const SERVICE_NETWORK: UnstructuredObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: Object.values(SERVICE_NETWORKS) },
};

/** The class that kind and minikube have under this name: claims that name no class get volumes, at once. */
const STANDARD_STORAGE_CLASS: UnstructuredObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { [DEFAULT_STORAGE_CLASS]: 'true' } },
  provisioner: SIMULATED_PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** If there is any class, people have chosen for themselves, and a new one would take over as the default. */
async function ensureStorageClass(context: RegistryContext): Promise<void> {
  const { items } = await context.storage.list('storageclasses.storage.k8s.io', { limit: 1 });
  if (items.length === 0) await ensureOwn(context, STANDARD_STORAGE_CLASS);
}

const INITIAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Makes the namespaces that clients take for granted. */
async function ensureInitialNamespaces(context: RegistryContext): Promise<void> {
  for (const name of INITIAL) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await unlessRefused(context, namespace, async () => {
      await ensureObject(context, namespace);
      await ensureDefaultServiceAccount(context, name);
    });
  }
}
