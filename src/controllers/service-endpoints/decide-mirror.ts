import { isIP } from 'node:net';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Service, Endpoints } from '@rollkeeper/runtime';
import { setControllerReference, typeMeta, EndpointSlice } from '@rollkeeper/runtime';
import { SERVICE_NAME_LABEL } from '../shared/index.js';
import { MANAGED_BY_LABEL, portsKey } from './decide-slices.js';
import { CHANGED_AT } from './pod-endpoint.js';

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];
type ReadableSlice = DeepReadonly<EndpointSlice>;
type Subset = NonNullable<DeepReadonly<Endpoints>['subsets']>[number];
type Address = NonNullable<Subset['addresses']>[number];

/** The default of kube-controller-manager's `--mirroring-max-endpoints-per-subset`. */
export const MAX_PER_SUBSET = 1000;

const MANAGED_BY = 'endpointslicemirroring-controller.k8s.io';
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER = 'control-plane.alpha.kubernetes.io/leader';
const NOT_COPIED = [CHANGED_AT, 'kubectl.kubernetes.io/last-applied-configuration'];

/** Whether people maintain these Endpoints, of a Service without a selector, and no slices of their own. */
export function isMirrored(
  { metadata }: DeepReadonly<Endpoints>,
  service: DeepReadonly<Service> | undefined,
): boolean {
  const isLeader = metadata.annotations?.[LEADER] !== undefined;
  return (
    service !== undefined &&
    service.spec.selector === undefined &&
    metadata.labels?.[SKIP_MIRROR] !== 'true' &&
    !isLeader
  );
}

export function isMirror({ metadata }: ReadableSlice): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY;
}

interface MirrorPlan {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly EndpointSlice[];
  readonly deletes: readonly ReadableSlice[];
  /** Addresses that are none. */
  readonly invalid: number;
  /** Addresses beyond {@link MAX_PER_SUBSET}. */
  readonly tooMany: number;
}

/**
 * The slices that say what Endpoints say: one for each set of ports and each address family. Source: k/k
 * pkg/controller/endpointslicemirroring.
 * @param slices the mirrors that there are
 */
export function decideMirror(
  endpoints: DeepReadonly<Endpoints>,
  slices: readonly ReadableSlice[],
): MirrorPlan {
  const { groups, invalid, tooMany } = groupsOf(endpoints);
  const existing = Map.groupBy(slices, (slice) => keyOf(slice.addressType, slice.ports ?? []));
  const unused = [...existing].flatMap(([key, of]) => (groups.has(key) ? of.slice(1) : [...of]));
  const creates: EndpointSlice[] = [];
  const updates: EndpointSlice[] = [];
  for (const [key, wanted] of groups) {
    // One of another set of ports is written over sooner than deleted; the family of an address cannot change.
    const reused = unused.findIndex(({ addressType }) => addressType === wanted.addressType);
    const slice = existing.get(key)?.[0] ?? (reused >= 0 ? unused.splice(reused, 1)[0] : undefined);
    const made = mirrorOf(endpoints, wanted, slice);
    if (!slice) creates.push(made);
    else if (!isSame(slice, made)) updates.push(made);
  }
  return { creates, updates, deletes: unused, invalid, tooMany };
}

interface Group {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: NonNullable<EndpointSlice['ports']>;
  readonly endpoints: Map<string, Endpoint>;
}

function groupsOf({ subsets = [] }: DeepReadonly<Endpoints>) {
  const groups = new Map<string, Group>();
  let [invalid, tooMany] = [0, 0];
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    const valid = all.filter(({ address }) => isIP(address.ip) !== 0);
    invalid += all.length - valid.length;
    tooMany += Math.max(0, valid.length - MAX_PER_SUBSET);
    for (const { address, ready } of valid.slice(0, MAX_PER_SUBSET)) {
      const addressType = isIP(address.ip) === 6 ? 'IPv6' : 'IPv4';
      const own = ports.map(({ name = '', protocol = 'TCP', ...port }) => ({ name, ...port, protocol }));
      const key = keyOf(addressType, own);
      const group = groups.get(key) ?? { addressType, ports: own, endpoints: new Map<string, Endpoint>() };
      groups.set(key, group);
      group.endpoints.set(address.ip, endpointOf(address, ready));
    }
  }
  return { groups, invalid, tooMany };
}

function keyOf(addressType: string, ports: DeepReadonly<NonNullable<EndpointSlice['ports']>>): string {
  return `${addressType} ${portsKey(ports)}`;
}

function endpointOf({ hostname, ip, nodeName, targetRef }: Address, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef && { targetRef: { ...targetRef } }),
  };
}

function mirrorOf(
  endpoints: DeepReadonly<Endpoints>,
  { addressType, endpoints: own, ports }: Group,
  slice: ReadableSlice | undefined,
): EndpointSlice {
  const { annotations = {}, labels, name, namespace } = endpoints.metadata;
  const metadata = {
    ...(slice ? cloneJson(slice.metadata) : { generateName: `${name}-`, namespace }),
    labels: { ...labels, [SERVICE_NAME_LABEL]: name, [MANAGED_BY_LABEL]: MANAGED_BY },
    annotations: Object.fromEntries(
      Object.entries(annotations).filter(([annotation]) => !NOT_COPIED.includes(annotation)),
    ),
  } as EndpointSlice['metadata'];
  const made: EndpointSlice = {
    ...typeMeta(EndpointSlice),
    ...{ metadata, addressType, ports: [...ports], endpoints: [...own.values()] },
  };
  setControllerReference(endpoints, made);
  return made;
}

function isSame(slice: ReadableSlice, made: EndpointSlice): boolean {
  const parts = ({ endpoints = [], metadata, ports = [] }: ReadableSlice) => ({
    endpoints: endpoints.toSorted((a, b) => ((a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1)),
    ports,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
  });
  return sameJson(parts(slice), parts(made));
}
