/** Never present at run time: it only carries the type of a resource's objects. */
declare const objectType: unique symbol;

/** A resource type of the API. */
export interface ResourceType {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural, as in the path: `deployments`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** A resource type that may say of which type its objects are. */
export interface TypedResource<T> extends ResourceType {
  readonly [objectType]?: T;
}

export const DEPLOYMENTS: ResourceType = type('apps', 'v1', 'deployments', 'Deployment', true);
/** The same as a custom resource, for clusters whose own Deployment controller cannot be switched off. */
export const ROLLKEEPER_DEPLOYMENTS: ResourceType = type(
  'rollkeeper.dev',
  'v1',
  'deployments',
  'Deployment',
  true,
);
export const REPLICA_SETS: ResourceType = type('apps', 'v1', 'replicasets', 'ReplicaSet', true);
export const PODS: ResourceType = type('', 'v1', 'pods', 'Pod', true);
export const EVENTS: ResourceType = type('', 'v1', 'events', 'Event', true);
export const PERSISTENT_VOLUMES: ResourceType = type(
  '',
  'v1',
  'persistentvolumes',
  'PersistentVolume',
  false,
);
export const PERSISTENT_VOLUME_CLAIMS: ResourceType = type(
  '',
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
  true,
);
export const STORAGE_CLASSES: ResourceType = type(
  'storage.k8s.io',
  'v1',
  'storageclasses',
  'StorageClass',
  false,
);
export const SERVICES: ResourceType = type('', 'v1', 'services', 'Service', true);
export const SERVICE_ACCOUNTS: ResourceType = type('', 'v1', 'serviceaccounts', 'ServiceAccount', true);
export const NAMESPACES: ResourceType = type('', 'v1', 'namespaces', 'Namespace', false);
export const RESOURCE_QUOTAS: ResourceType = type('', 'v1', 'resourcequotas', 'ResourceQuota', true);
export const CONFIG_MAPS: ResourceType = type('', 'v1', 'configmaps', 'ConfigMap', true);
export const JOBS: ResourceType = type('batch', 'v1', 'jobs', 'Job', true);
export const NODES: ResourceType = type('', 'v1', 'nodes', 'Node', false);
export const LEASES: ResourceType = type('coordination.k8s.io', 'v1', 'leases', 'Lease', true);
/** Only served where coordinated leader election is enabled, since Kubernetes 1.33. */
export const LEASE_CANDIDATES: ResourceType = type(
  'coordination.k8s.io',
  'v1beta1',
  'leasecandidates',
  'LeaseCandidate',
  true,
);

/** `apps/v1`, or `v1` for the core group: the text in an object's `apiVersion`. */
export function apiVersionOf(resource: Pick<ResourceType, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `deployments.apps`, or `pods` for the core group: a unique short name of the type. */
export function qualifiedResource(resource: Pick<ResourceType, 'group' | 'resource'>): string {
  return resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`;
}

function type(
  group: string,
  version: string,
  resource: string,
  kind: string,
  namespaced: boolean,
): ResourceType {
  return { group, version, resource, kind, namespaced };
}

/** Identifies an object: `namespace` is absent for cluster-scoped ones. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** The key of an object in queues, locks and caches: `namespace/name`, or `name` if cluster-scoped. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** The inverse of {@link keyOf}. */
export function parseKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
