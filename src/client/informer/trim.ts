import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, Pod, PodSpec, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { PODS, nodeNamedByAffinity, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** Shrinks an object before it is cached; may change and return the object it is given. */
export type Trim<T extends KubernetesObject = KubernetesObject> = (object: T) => T;

/**
 * What a shared cache keeps of an object beside `apiVersion`, `kind` and `metadata`, which it always keeps: who owns an object
 * and whether it may go matters to others than those who look at its content.
 */
export type ContentTrim<T extends KubernetesObject = KubernetesObject> = (
  object: T,
) => Omit<T, 'apiVersion' | 'kind' | 'metadata'>;

/** Nobody here reads who manages which field. A PUT without them leaves them as they are. */
export function dropManagedFields<T extends KubernetesObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}

/**
 * What tells who an object is, who owns it and whether it may go: all that the garbage collector reads of the many kinds
 * that nobody else looks at. Labels and annotations, often the most of the metadata, are left out.
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
 * A pod as the controllers read it: who owns it, where it runs, how it fares. Never PUT such a pod, patch it: most of
 * its spec is missing (`containers` is empty, because the type wants the field).
 */
export function trimPod(pod: Pod): Pod {
  const { apiVersion, kind, metadata } = dropManagedFields(pod);
  return { apiVersion, kind, metadata, spec: trimPodSpec(pod.spec), status: trimPodStatus(pod.status) };
}

/**
 * As {@link trimPod}, for those who also read what a pod asks for, which claims it uses and how it is reached: env, other volumes
 * and the like go.
 */
export function trimPodKeepingSpec(pod: Pod): Pod {
  const { spec, status } = pod;
  const { containers = [] }: Partial<PodSpec> = spec;
  const trimmed = trimPod(pod);
  const sidecars = sidecarsOf(spec);
  const claimed = spec.volumes?.filter((volume) => volume.persistentVolumeClaim ?? volume.ephemeral) ?? [];
  const reached = ['hostname', 'subdomain', 'hostNetwork', 'tolerations', 'overhead'] as const;
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
    status: { ...trimmed.status, ...pick(status, ['podIP', 'podIPs', 'hostIP']) },
  };
}

/** The trims by `qualifiedResource`; every other type only loses its managedFields. */
export const DEFAULT_TRIMS: ReadonlyMap<string, ContentTrim> = new Map<string, ContentTrim>([
  [qualifiedResource(PODS), trimPod as unknown as ContentTrim],
]);

/**
 * What the caches of such controllers keep.
 * @throws IllegalStateError where two of them want different parts of a type
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

/** What the shared cache of a type keeps: the metadata but for the managedFields, and of the rest what its trim says. */
export function trimFor(type: ResourceType, trims: ReadonlyMap<string, ContentTrim> = DEFAULT_TRIMS): Trim {
  const trim = trims.get(qualifiedResource(type));
  if (!trim) return dropManagedFields;
  return (object) => {
    const { apiVersion, kind, metadata } = dropManagedFields(object);
    return Object.assign(trim(object), { apiVersion, kind, metadata });
  };
}

function trimPodSpec(spec: Pod['spec'] | undefined): Pod['spec'] {
  // Only of a sidecar do restarts count when victims are ranked.
  const sidecars = sidecarsOf(spec);
  return {
    containers: [],
    ...pick(spec, ['nodeName', 'restartPolicy', 'terminationGracePeriodSeconds', 'priority']),
    // Of a pod that is meant for one node, and is not there yet.
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
      // Why a container is not ready is told to people; one that is ready has nothing to tell.
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
