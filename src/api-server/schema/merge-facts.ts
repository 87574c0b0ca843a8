import type { ObjectSchema } from './object-schema.js';

/** How lists and objects merge, for strategic merge patch and server-side apply. */
export type MergeFacts = Pick<ObjectSchema, 'patchStrategy' | 'patchMergeKey' | 'listType' | 'listMapKeys'>;

/** A list of objects that both kinds of patch merge by the same key(s); the strategic one uses the first. */
function mapBy(...keys: [string, ...string[]]): MergeFacts {
  return { patchStrategy: 'merge', patchMergeKey: keys[0], listType: 'map', listMapKeys: keys };
}

const MERGED_SET: MergeFacts = { patchStrategy: 'merge', listType: 'set' };
const RETAIN_KEYS: MergeFacts = { patchStrategy: 'retainKeys' };
const ATOMIC: MergeFacts = { listType: 'atomic' };

const CONTAINER_LISTS: Readonly<Record<string, MergeFacts>> = {
  env: mapBy('name'),
  ports: { ...mapBy('containerPort'), listMapKeys: ['containerPort', 'protocol'] },
  volumeDevices: mapBy('devicePath'),
  volumeMounts: mapBy('mountPath'),
  resizePolicy: ATOMIC,
};

/**
 * The `x-kubernetes-patch-*` and `x-kubernetes-list-*` marks of the fields that have them, by schema and property.
 * Source: Kubernetes' published OpenAPI document (api/openapi-spec) and the API reference.
 */
export const MERGE_FACTS: Readonly<Record<string, Readonly<Record<string, MergeFacts>>>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    finalizers: MERGED_SET,
    ownerReferences: mapBy('uid'),
    managedFields: ATOMIC,
  },
  'io.k8s.api.apps.v1.DeploymentSpec': { strategy: RETAIN_KEYS },
  'io.k8s.api.apps.v1.DeploymentStatus': { conditions: mapBy('type') },
  'io.k8s.api.apps.v1.ReplicaSetStatus': { conditions: mapBy('type') },
  'io.k8s.api.core.v1.PodSpec': {
    containers: mapBy('name'),
    initContainers: mapBy('name'),
    ephemeralContainers: mapBy('name'),
    hostAliases: mapBy('ip'),
    imagePullSecrets: mapBy('name'),
    volumes: { ...mapBy('name'), patchStrategy: 'merge,retainKeys' },
    topologySpreadConstraints: {
      ...mapBy('topologyKey'),
      listMapKeys: ['topologyKey', 'whenUnsatisfiable'],
    },
    schedulingGates: mapBy('name'),
    resourceClaims: { ...mapBy('name'), patchStrategy: 'merge,retainKeys' },
    readinessGates: ATOMIC,
    tolerations: ATOMIC,
  },
  'io.k8s.api.core.v1.Container': CONTAINER_LISTS,
  'io.k8s.api.core.v1.EphemeralContainer': CONTAINER_LISTS,
  'io.k8s.api.core.v1.ResourceRequirements': { claims: { listType: 'map', listMapKeys: ['name'] } },
  'io.k8s.api.core.v1.PodStatus': {
    conditions: mapBy('type'),
    hostIPs: { patchStrategy: 'merge', patchMergeKey: 'ip', listType: 'atomic' },
    podIPs: mapBy('ip'),
    resourceClaimStatuses: { ...mapBy('name'), patchStrategy: 'merge,retainKeys' },
  },
  'io.k8s.api.core.v1.ProjectedVolumeSource': { sources: ATOMIC },
  'io.k8s.api.core.v1.NodeSpec': { podCIDRs: MERGED_SET, taints: ATOMIC },
  'io.k8s.api.core.v1.NodeStatus': { addresses: mapBy('type'), conditions: mapBy('type') },
  'io.k8s.api.core.v1.NamespaceStatus': { conditions: mapBy('type') },
  'io.k8s.api.core.v1.NamespaceSpec': { finalizers: ATOMIC },
  'io.k8s.api.core.v1.ServiceAccount': {
    imagePullSecrets: ATOMIC,
    secrets: mapBy('name'),
  },
  'io.k8s.api.core.v1.PersistentVolumeClaimSpec': { accessModes: ATOMIC },
  'io.k8s.api.core.v1.PodSecurityContext': { supplementalGroups: ATOMIC, sysctls: ATOMIC },
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions': { dryRun: ATOMIC },
  'io.k8s.api.core.v1.TopologySpreadConstraint': { matchLabelKeys: ATOMIC },
  'io.k8s.api.core.v1.PodAffinityTerm': { namespaces: ATOMIC, matchLabelKeys: ATOMIC },
  'io.k8s.api.core.v1.Capabilities': { add: ATOMIC, drop: ATOMIC },
  'io.k8s.api.core.v1.ContainerStatus': { volumeMounts: mapBy('mountPath') },
};

/** Objects that server-side apply treats as one value. */
export const ATOMIC_OBJECTS: ReadonlySet<string> = new Set([
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector',
  'io.k8s.api.core.v1.ObjectReference',
  'io.k8s.api.core.v1.LocalObjectReference',
  'io.k8s.api.core.v1.TypedLocalObjectReference',
  'io.k8s.api.core.v1.ObjectFieldSelector',
  'io.k8s.api.core.v1.ResourceFieldSelector',
  'io.k8s.api.core.v1.ConfigMapKeySelector',
  'io.k8s.api.core.v1.SecretKeySelector',
  'io.k8s.api.core.v1.NodeSelector',
  'io.k8s.api.core.v1.NodeSelectorTerm',
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference',
]);

/** Maps that server-side apply treats as one value, by schema. */
export const ATOMIC_MAPS: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.core.v1.PodSpec': ['nodeSelector'],
};
