import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { DeviceClass } from './resource-api.js';

type ReadableClass = DeepReadonly<DeviceClass>;

const CLASSES = 'resource.k8s.io/deviceclasses';
/** Before the name of a device class: an extended resource that every class provides. */
const OF_CLASS = 'deviceclass.resource.kubernetes.io/';

/**
 * The device class whose devices serve an extended resource that pods ask for: the one with that name in its own, or the newest whose
 * `extendedResourceName` it is. Undefined where nodes alone may have it. Source: k8s.io/dynamic-resource-allocation
 * extendedresourcecache.
 */
export function deviceClassOf(resource: string, view: ClusterView): ReadableClass | undefined {
  if (resource.startsWith(OF_CLASS))
    return view.get<DeviceClass>(CLASSES, { name: resource.slice(OF_CLASS.length) });
  if (!isDeviceResource(resource)) return undefined;
  let best: ReadableClass | undefined;
  for (const each of view.list<DeviceClass>(CLASSES))
    if (each.spec.extendedResourceName === resource && (!best || isPreferred(each, best))) best = each;
  return best;
}

/** Whether devices may serve the resource: none of Kubernetes' own, apart from those that classes provide. */
export function isDeviceResource(resource: string): boolean {
  return resource.startsWith(OF_CLASS) || (resource.includes('/') && !resource.includes('kubernetes.io/'));
}

/** Whether a class that came to be, or changed, provides one of the resources now. */
export function providesAnew(
  resources: Iterable<string>,
  before: ReadableClass | undefined,
  after: ReadableClass | undefined,
): boolean {
  if (!after || (before && before.spec.extendedResourceName === after.spec.extendedResourceName))
    return false;
  const provided = [
    after.spec.extendedResourceName,
    ...(before ? [] : [`${OF_CLASS}${after.metadata.name}`]),
  ];
  return [...resources].some((resource) => provided.includes(resource));
}

function isPreferred(one: ReadableClass, other: ReadableClass): boolean {
  const madeAt = ({ metadata }: ReadableClass): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  const newer = madeAt(one) - madeAt(other);
  return newer === 0 ? one.metadata.name < other.metadata.name : newer > 0;
}
