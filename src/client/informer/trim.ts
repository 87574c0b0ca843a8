import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, PodSpec, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Pod, nodeNamedByAffinity, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** Shrinks an object before it is cached; may change and return the given object. */
export type Trim<T extends KubernetesObject = KubernetesObject> = (object: T) => T;

/**
 * The content of an object that a shared cache keeps beside `apiVersion`, `kind` and `metadata`, which are always kept:
 * ownership and deletion matter even to controllers that do not read the content.
 */
export type ContentTrim<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

/** managedFields are not read here. A PUT without them leaves them unchanged. */
export function dropManagedFields<T extends KubernetesObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}

/**
 * Identity, owners and deletion state: all that the garbage collector reads of types that are not cached otherwise.
 * Labels and annotations, often most of the metadata, are dropped.
 */
export function trimToOwnership<T extends KubernetesObject>(object: T): T {
  const { apiVersion, kind, metadata } = object;
  const { deletionTimestamp, finalizers, name, namespace, ownerReferences, resourceVersion, uid } = metadata;
  const kept: KubernetesObject['metadata'] = { name, namespace, uid, resourceVersion };
  if (deletionTimestamp !== undefined) kept.deletionTimestamp = deletionTimestamp;
  if (finalizers !== undefined) kept.finalizers = finalizers;
  if (ownerReferences !== undefined) kept.ownerReferences = ownerReferences;
  return { apiVersion, kind, metadata: kept } as T;
}

/**
 * The parts of a pod that the controllers read: owners, node and status. Never PUT such a pod, patch it: most of its
 * spec is missing (`containers` is empty, because the type requires the field).
 */
export function trimPod(pod: Pod): Pod {
  const { apiVersion, kind, metadata } = dropManagedFields(pod);
  return { apiVersion, kind, metadata, spec: trimPodSpec(pod.spec), status: trimPodStatus(pod.status) };
}

const ADDRESSES = ['podIP', 'podIPs', 'hostIP'] as const;
const CLAIM_STATUSES = ['resourceClaimStatuses', 'extendedResourceClaimStatus'] as const;

/** As {@link trimPod}, but keeps a pod's requests, claims and ports. Drops env, other volumes and the like. */
export function trimPodKeepingSpec(pod: Pod): Pod {
  const { spec, status } = pod;
  const { containers = [] }: Partial<PodSpec> = spec;
  const trimmed = trimPod(pod);
  const sidecars = sidecarsOf(spec);
  const claimed = spec.volumes?.filter((volume) => volume.persistentVolumeClaim ?? volume.ephemeral) ?? [];
  const reached = [
    ...(['hostname', 'subdomain', 'hostNetwork', 'tolerations', 'overhead', 'resourceClaims'] as const),
  ];
  return {
    ...trimmed,
    spec: {
      ...trimmed.spec,
      ...pick(spec, reached),
      ...(claimed.length > 0 && { volumes: claimed }),
      containers: containers.map((each) => pick(each, ['name', 'ports', 'resources'])),
      ...(sidecars.length > 0 && {
        initContainers: sidecars.map((each) => pick(each, ['name', 'restartPolicy', 'resources'])),
      }),
    },
    status: { ...trimmed.status, ...pick(status, [...ADDRESSES, ...CLAIM_STATUSES]) },
  };
}

/** The trims by `qualifiedResource`; for every other type only managedFields are dropped. */
export const DEFAULT_TRIMS: ReadonlyMap<string, ContentTrim> = new Map<string, ContentTrim>([
  [qualifiedResource(Pod), (pod) => trimPod(pod as Pod)],
]);

/**
 * The parts that the caches of these controllers keep.
 * @throws IllegalStateError if two of them want different parts of a type
 */
export function trimsFor(
  controllers: readonly { readonly trims?: ReadonlyMap<string, ContentTrim> }[],
): ReadonlyMap<string, ContentTrim> {
  const wanted = new Map<string, ContentTrim>();
  for (const [resource, trim] of controllers.flatMap(({ trims = NO_TRIMS }) => [...trims])) {
    if ((wanted.get(resource) ?? trim) !== trim)
      throw new IllegalStateError(`two controllers want different parts of ${resource}`);
    wanted.set(resource, trim);
  }
  return new Map([...DEFAULT_TRIMS, ...wanted]);
}

const NO_TRIMS: ReadonlyMap<string, ContentTrim> = new Map();

/**
 * The trim of a type's shared cache: keeps the metadata without managedFields, and the parts that the type's trim
 * keeps.
 */
export function trimFor(type: ResourceType, trims: ReadonlyMap<string, ContentTrim> = DEFAULT_TRIMS): Trim {
  const trim = trims.get(qualifiedResource(type));
  if (!trim) return dropManagedFields;
  return (object) => {
    const { apiVersion, kind, metadata } = dropManagedFields(object);
    return Object.assign(trim(object), { apiVersion, kind, metadata });
  };
}

function trimPodSpec(spec: Pod['spec'] | undefined): Pod['spec'] {
  // Restarts only matter for a sidecar when pods are ranked for deletion.
  const sidecars = sidecarsOf(spec);
  return {
    containers: [],
    ...pick(spec, ['nodeName', 'restartPolicy', 'terminationGracePeriodSeconds', 'priority']),
    // Only for a pod that is bound to one node by affinity and not scheduled yet.
    ...(spec && !spec.nodeName && nodeNamedByAffinity(spec) !== undefined && pick(spec, ['affinity'])),
    ...(sidecars.length > 0 && {
      initContainers: sidecars.map((container) => pick(container, ['name', 'restartPolicy'])),
    }),
  };
}

/** Init containers that always restart, and so run beside the others. */
function sidecarsOf(spec: Pod['spec'] | undefined) {
  return spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
}

function trimPodStatus(status: Pod['status']): Pod['status'] {
  if (!status) return undefined;
  const containers = (list: ContainerStatuses) =>
    list?.map((container) => ({
      ...pick(container, ['name', 'ready', 'started', 'restartCount', 'image', 'imageID']),
      // Status messages show why a container is not ready; a ready one needs no explanation.
      ...(container.ready ? {} : pick(container, ['state', 'lastState'])),
    }));
  return {
    ...pick(status, ['phase', 'reason', 'message', 'startTime', 'conditions']),
    ...(status.containerStatuses && { containerStatuses: containers(status.containerStatuses) }),
    ...(status.initContainerStatuses && { initContainerStatuses: containers(status.initContainerStatuses) }),
  };
}

type ContainerStatuses = NonNullable<Pod['status']>['containerStatuses'];

function pick<T extends object, Field extends keyof T>(
  from: T | undefined,
  fields: readonly Field[],
): Pick<T, Field> {
  const picked: Partial<Pick<T, Field>> = {};
  for (const field of fields) if (from?.[field] !== undefined) picked[field] = from[field];
  return picked as Pick<T, Field>;
}
