import type { ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { ResourceClaim } from '@rollkeeper/machinery/types/resource-v1';
import {
  isPodFinished,
  nanosOf,
  objectOfKind,
  qualifiedResource,
  totalOfPod,
} from '@rollkeeper/machinery/kubernetes';
import type {
  Amounts,
  DecodedObject,
  PersistentVolumeClaim,
  Pod,
  ResourceType,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';

/** Kinds that are also counted by their plain name, as before there was `count/`. */
const PLAIN = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
]);
const STORAGE_CLASS = '.storageclass.storage.k8s.io/';
const DEVICES_OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** The devices that a claim gets at most where it asks for all. */
const MOST_DEVICES = 32;
/** Resources of Kubernetes' own, which requests and limits name without a domain. */
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * The usage of a quota by an object, by the names that quotas know. Source: pkg/quota/v1/evaluator/core. A pod uses
 * compute resources until it has come to its end, and counts as an object for as long as it is there.
 */
export function usageOf(type: ResourceType, object: Readonly<UnstructuredObject>): Amounts {
  const resource = qualifiedResource(type);
  const counts = { [`count/${resource}`]: 1, ...(PLAIN.has(resource) && { [resource]: 1 }) };
  if (resource === 'pods') return { ...counts, ...usageOfPod(objectOfKind(object)) };
  if (resource === 'services') return { ...counts, ...usageOfService(object.spec ?? {}) };
  if (resource === 'persistentvolumeclaims') return { ...counts, ...usageOfClaim(objectOfKind(object)) };
  if (resource === 'resourceclaims.resource.k8s.io')
    return { ...counts, ...usageOfDeviceClaim(objectOfKind(object)) };
  return counts;
}

/** Under which resource the objects are that a quota counts by this name; undefined for a name that means none. */
export function resourceCountedBy(name: string): string | undefined {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (PLAIN.has(name)) return name;
  if (name.startsWith('services.')) return 'services';
  if (name === 'requests.storage' || name.includes(STORAGE_CLASS)) return 'persistentvolumeclaims';
  if (name.endsWith(DEVICES_OF_CLASS)) return 'resourceclaims.resource.k8s.io';
  return /^(?:pods|cpu|memory|ephemeral-storage|hugepages-.*|requests\..*|limits\..*)$/.test(name)
    ? 'pods'
    : undefined;
}

function usageOfPod({ spec, status }: Readonly<Pod>): Amounts {
  if (isPodFinished({ status })) return {};
  const used: Record<string, string | number> = { pods: 1 };
  for (const [name, amount] of Object.entries(totalOfPod(spec, 'requests'))) {
    if (COMPUTE.includes(name) || name.startsWith('hugepages-')) used[name] = amount;
    used[`requests.${name}`] = amount;
  }
  for (const [name, amount] of Object.entries(totalOfPod(spec, 'limits')))
    if (COMPUTE.includes(name)) used[`limits.${name}`] = amount;
  return used;
}

function usageOfService({
  type,
  ports = [],
  allocateLoadBalancerNodePorts = true,
}: Partial<ServiceSpec>): Amounts {
  const isBalanced = type === 'LoadBalancer';
  const nodePorts =
    type === 'NodePort' || (isBalanced && allocateLoadBalancerNodePorts)
      ? ports.length
      : isBalanced
        ? ports.filter(({ nodePort }) => nodePort).length
        : 0;
  return { 'services.nodeports': nodePorts, 'services.loadbalancers': isBalanced ? 1 : 0 };
}

function usageOfClaim({ metadata, spec, status }: DecodedObject<PersistentVolumeClaim>): Amounts {
  const { resources, storageClassName } = spec ?? {};
  const className =
    metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? storageClassName ?? '';
  const storage = greater(resources?.requests?.storage, status?.allocatedResources?.storage);
  const byClass = className === '' ? undefined : `${className}${STORAGE_CLASS}`;
  return {
    ...(byClass !== undefined && { [`${byClass}persistentvolumeclaims`]: 1 }),
    ...(storage !== undefined && { 'requests.storage': storage }),
    ...(storage !== undefined && byClass !== undefined && { [`${byClass}requests.storage`]: storage }),
  };
}

/** Among alternatives, the one with the most devices of a class counts. */
function usageOfDeviceClaim({ spec }: DecodedObject<ResourceClaim>): Amounts {
  const { devices } = spec ?? {};
  const used: Record<string, number> = {};
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    const most: Record<string, number> = {};
    for (const request of firstAvailable.length > 0 ? firstAvailable : exactly ? [exactly] : []) {
      const name = `${request.deviceClassName}${DEVICES_OF_CLASS}`;
      most[name] = Math.max(most[name] ?? 0, devicesOf(request));
    }
    for (const [name, count] of Object.entries(most)) used[name] = (used[name] ?? 0) + count;
  }
  return used;
}

function devicesOf({ allocationMode, count = 1 }: { allocationMode?: string; count?: number }): number {
  return allocationMode === 'All' ? MOST_DEVICES : count;
}

/** A claim that asks for less again still has what was allocated for its growth. */
function greater<T extends Amounts[string] | undefined>(asked: T, allocated: T): T {
  return allocated !== undefined && nanosOf(allocated) > nanosOf(asked) ? allocated : asked;
}
