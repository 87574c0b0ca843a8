import { isControlledBy, isSidecar } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { NodeInfo, PodInfo, ReadablePod } from '../../framework/node-info.js';
import type { Status } from '../../framework/status.js';
import { unresolvable } from '../../framework/status.js';
import { amountOf } from '../../node/pod-requests.js';
import { deviceClassOf, isDeviceResource } from './device-classes.js';
import type { DeviceRequest, ReadableClaim, ResourceClaim } from './resource-api.js';

/** On the claim that the scheduler makes of a pod's extended resources. */
const EXTENDED_CLAIM = 'resource.kubernetes.io/extended-resource-claim';
/** The name of the claim until it is created. It is no name of an object. */
const NOT_CREATED = '<extended-resources>';
/** The longest base that leaves room for five random characters in a name of 63. */
const LONGEST_BASE = 58;

/**
 * The request of the claim that serves a resource of a container, as `status.extendedResourceClaimStatus` of the pod
 * says it.
 */
export interface RequestMapping {
  readonly containerName: string;
  readonly resourceName: string;
  readonly requestName: string;
}

/** The claim that gives a pod its extended resources on a node. */
export interface ExtendedClaim {
  readonly claim: ReadableClaim;
  readonly mappings: readonly RequestMapping[];
}

/** Whether device classes may serve anything that the pod asks for. */
export function wantsDeviceResources({ requests }: PodInfo, view: ClusterView): boolean {
  for (const [resource, amount] of requests)
    if (amount > 0 && isDeviceResource(resource) && deviceClassOf(resource, view)) return true;
  return false;
}

/** The claim that an earlier attempt has made of the pod's extended resources. */
export function leftExtendedClaim(pod: ReadablePod, view: ClusterView): ReadableClaim | undefined {
  return view
    .list<ResourceClaim>('resource.k8s.io/resourceclaims', pod.metadata.namespace)
    .find((claim) => claim.metadata.annotations?.[EXTENDED_CLAIM] === 'true' && isControlledBy(claim, pod));
}

/**
 * The claim for those extended resources of the pod that devices have to serve on this node: what the node has itself is left to it.
 * Source: filterExtendedResources in k/k pkg/scheduler/framework/plugins/dynamicresources.
 * @returns undefined where the node has them all
 */
export function extendedClaimFor(
  { pod, requests }: PodInfo,
  { allocatable }: NodeInfo,
  view: ClusterView,
): ExtendedClaim | Status | undefined {
  const classes = new Map<string, string>();
  for (const [resource, amount] of requests) {
    if (!(amount > 0) || !isDeviceResource(resource)) continue;
    const deviceClass = deviceClassOf(resource, view);
    const has = allocatable.get(resource);
    if (deviceClass && !has) classes.set(resource, deviceClass.metadata.name);
    else if (has === undefined) return unresolvable('cannot fit resource');
  }
  if (classes.size === 0) return undefined;
  const { mappings, requests: wanted } = requestsFor(pod, classes);
  return { claim: claimOf(pod, wanted), mappings };
}

function claimOf({ metadata }: ReadablePod, requests: readonly DeviceRequest[]): ReadableClaim {
  const { name, namespace, uid = '' } = metadata;
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      name: NOT_CREATED,
      generateName: `${name}-extended-resources-`.slice(0, LONGEST_BASE),
      namespace,
      annotations: { [EXTENDED_CLAIM]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: { devices: { requests } },
  };
}

type Container = ReadablePod['spec']['containers'][number];

/** A container with its place among all containers of its pod, init containers first. */
interface Placed {
  readonly container: Container;
  readonly place: number;
  /** It ends before the main containers begin, and may use their devices. */
  readonly endsFirst: boolean;
}

interface Requested {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly RequestMapping[];
}

/** @param classes the names of device classes, by the resources that they serve */
function requestsFor({ spec }: ReadablePod, classes: ReadonlyMap<string, string>): Requested {
  const init = spec.initContainers ?? [];
  const all = [...init, ...spec.containers].map((container, place): Placed => {
    return { container, place, endsFirst: place < init.length && !isSidecar(container) };
  });
  const parts = [...classes].toSorted(byName).map(([resource, name]) => requestsOfOne(all, resource, name));
  return {
    requests: parts.flatMap(({ requests }) => requests).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    mappings: parts.flatMap(({ mappings }) => mappings),
  };
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

/**
 * Each container that keeps running has devices of its own. Init containers run one after the other: they use the
 * devices of containers that come later, and share what they need beyond these.
 */
function requestsOfOne(all: readonly Placed[], resource: string, deviceClass: string): Requested {
  const lasting = all.filter(({ endsFirst }) => !endsFirst);
  const own = new Map<number, DeviceRequest>();
  const mappings: RequestMapping[] = [];
  for (const placed of lasting) {
    const { mapped, request } = requestOf(placed, { resource, deviceClass, reusable: [] });
    if (request) own.set(placed.place, request);
    mappings.push(...mapped);
  }
  const extra: DeviceRequest[] = [];
  const ofInit: RequestMapping[] = [];
  for (const placed of all.filter(({ endsFirst }) => endsFirst)) {
    const reusable = [...own].filter(([place]) => place >= placed.place).map(([, request]) => request);
    const { mapped, request } = requestOf(placed, { resource, deviceClass, reusable });
    if (request) extra.push(request);
    ofInit.push(...mapped);
  }
  const largest = extra.reduce<DeviceRequest | undefined>(
    (most, each) => (most && countOf(most) >= countOf(each) ? most : each),
    undefined,
  );
  const replaced = new Set(extra.map(({ name }) => name));
  const shared = ofInit.map((mapping) =>
    largest && replaced.has(mapping.requestName) ? { ...mapping, requestName: largest.name } : mapping,
  );
  return { requests: [...(largest ? [largest] : []), ...own.values()], mappings: [...mappings, ...shared] };
}

interface Wanted {
  readonly resource: string;
  readonly deviceClass: string;
  /** Requests whose devices the container may use. */
  readonly reusable: readonly DeviceRequest[];
}

/** The devices that a container needs beyond those that it may use of others, and the requests that serve it. */
function requestOf(
  { container, place }: Placed,
  { deviceClass, resource, reusable }: Wanted,
): { readonly request?: DeviceRequest; readonly mapped: readonly RequestMapping[] } {
  const requested = container.resources?.requests ?? {};
  const wanted = Number(amountOf(resource, requested[resource]));
  const mapped: RequestMapping[] = [];
  if (wanted === 0) return { mapped };
  const map = (requestName: string): void => {
    mapped.push({ containerName: container.name, resourceName: resource, requestName });
  };
  let found = 0;
  for (const request of reusable) {
    if (found >= wanted) break;
    found += countOf(request);
    map(request.name);
  }
  if (found >= wanted) return { mapped };
  const name = `container-${place}-request-${Object.keys(requested).toSorted().indexOf(resource)}`;
  map(name);
  const exactly = {
    deviceClassName: deviceClass,
    allocationMode: 'ExactCount',
    count: wanted - found,
  };
  return { request: { name, exactly }, mapped };
}

function countOf({ exactly }: DeviceRequest): number {
  return exactly?.count ?? 0;
}
