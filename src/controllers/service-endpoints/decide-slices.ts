import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { writableCopy, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Service } from '@rollkeeper/runtime';
import { setControllerReference, typeMeta, EndpointSlice } from '@rollkeeper/runtime';
import { SERVICE_NAME_LABEL } from '../shared/index.js';
import type { IpFamily, PodEndpoint } from './pod-endpoint.js';
import { HEADLESS_LABEL, familiesOf, isHeadless, podEndpoints } from './pod-endpoint.js';

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];
type ReadableSlice = DeepReadonly<EndpointSlice>;
type ReadableService = DeepReadonly<Service>;

export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
export const MANAGED_BY = 'endpointslice-controller.k8s.io';

/** The default of kube-controller-manager's `--max-endpoints-per-slice`. */
const MAX_ENDPOINTS = 100;

/** The writes. */
interface SlicePlan {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly EndpointSlice[];
  readonly deletes: readonly ReadableSlice[];
}

/**
 * Updates a Service's slices for its pods, in few writes: endpoints stay in their slice, new ones fill slices that have
 * to be written anyway or have room, and the rest gets a new slice. A Service without endpoints keeps one empty slice.
 * Source: `reconcileByAddressType` in k8s.io/endpointslice.
 * @param slices those of this Service that are ours
 */
export function decideSlices(
  service: ReadableService,
  pods: Parameters<typeof podEndpoints>[1],
  slices: readonly ReadableSlice[],
): SlicePlan {
  const families = familiesOf(service);
  const plans = families.map((family) => {
    const endpoints = podEndpoints(service, pods, family);
    const ofFamily = slices.filter(({ addressType }) => addressType === family);
    return decideFamily(service, family, endpoints, ofFamily);
  });
  const strange = slices.filter(({ addressType }) => !families.some((family) => family === addressType));
  return {
    creates: plans.flatMap(({ creates }) => creates),
    updates: plans.flatMap(({ updates }) => updates),
    deletes: [...strange, ...plans.flatMap(({ deletes }) => deletes)],
  };
}

function decideFamily(
  service: ReadableService,
  family: IpFamily,
  endpoints: readonly PodEndpoint[],
  slices: readonly ReadableSlice[],
): SlicePlan {
  const groups = new Map(
    [...Map.groupBy(endpoints, ({ ports }) => portsKey(ports))].map(([key, group]) => [
      key,
      { ports: portsOf(group[0]?.ports ?? []), endpoints: group.map(endpointOf) },
    ]),
  );
  // Shows consumers that there are no endpoints, rather than that they are unknown.
  if (groups.size === 0) groups.set('', { ports: [], endpoints: [] });
  const slicesOf = Map.groupBy(slices, ({ ports }) => portsKey(ports ?? []));
  const plans = [...groups].map(([key, group]) =>
    decidePorts(service, family, group, slicesOf.get(key) ?? []),
  );
  const empty = [...slicesOf].flatMap(([key, of]) => (groups.has(key) ? [] : of));
  return {
    creates: plans.flatMap(({ creates }) => creates),
    updates: plans.flatMap(({ updates }) => updates),
    deletes: [...empty, ...plans.flatMap(({ deletes }) => deletes)],
  };
}

interface PortGroup {
  readonly ports: NonNullable<EndpointSlice['ports']>;
  readonly endpoints: readonly Endpoint[];
}

function decidePorts(
  service: ReadableService,
  family: IpFamily,
  { endpoints, ports }: PortGroup,
  slices: readonly ReadableSlice[],
): SlicePlan {
  const missing = new Map(endpoints.map((endpoint) => [uidOf(endpoint), endpoint]));
  const kept = slices.map((slice) => {
    const stay = (slice.endpoints ?? []).flatMap((each) => {
      const wanted = missing.get(uidOf(each));
      missing.delete(uidOf(each));
      return wanted ? [wanted] : [];
    });
    return { slice, endpoints: stay };
  });
  const waiting = [...missing.values()];
  for (const each of kept) each.endpoints.push(...waiting.splice(0, MAX_ENDPOINTS - each.endpoints.length));
  const creates: EndpointSlice[] = [];
  const isNew = kept.length === 0;
  while (waiting.length > 0 || (isNew && creates.length === 0))
    creates.push(newSlice(service, family, ports, waiting.splice(0, MAX_ENDPOINTS)));
  const used = kept.filter(
    ({ endpoints: some }, index) => some.length > 0 || (endpoints.length === 0 && index === 0),
  );
  const labels = labelsOf(service);
  const isUsed = new Set(used);
  return {
    creates,
    updates: used
      .filter(
        (each) =>
          !sameJson(each.slice.endpoints ?? [], each.endpoints) ||
          !sameJson(each.slice.metadata.labels, labels),
      )
      .map((each) => {
        const slice = writableCopy<EndpointSlice>(each.slice);
        return { ...slice, metadata: { ...slice.metadata, labels }, endpoints: each.endpoints };
      }),
    deletes: kept.filter((each) => !isUsed.has(each)).map(({ slice }) => slice),
  };
}

function newSlice(
  service: ReadableService,
  addressType: IpFamily,
  ports: NonNullable<EndpointSlice['ports']>,
  endpoints: Endpoint[],
): EndpointSlice {
  const { name, namespace } = service.metadata;
  const metadata = {
    generateName: `${name}-`,
    namespace,
    labels: labelsOf(service),
  } as EndpointSlice['metadata'];
  const slice: EndpointSlice = { ...typeMeta(EndpointSlice), metadata, addressType, endpoints, ports };
  setControllerReference(service, slice);
  return slice;
}

/** Includes the Service's own labels, so that consumers can select by them. */
function labelsOf(service: ReadableService): Record<string, string> {
  const { labels, name } = service.metadata;
  return {
    ...labels,
    [SERVICE_NAME_LABEL]: name,
    [MANAGED_BY_LABEL]: MANAGED_BY,
    ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }),
  };
}

function endpointOf({ address, hostname, pod, ready, serving, terminating }: PodEndpoint): Endpoint {
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

function portsOf(ports: PodEndpoint['ports']): NonNullable<EndpointSlice['ports']> {
  return ports.map((port) => ({ ...port }));
}

export function portsKey(ports: DeepReadonly<NonNullable<EndpointSlice['ports']>>): string {
  return ports
    .map(
      ({ appProtocol = '', name = '', port, protocol = 'TCP' }) =>
        `${name} ${port}/${protocol} ${appProtocol}`,
    )
    .toSorted()
    .join();
}

function uidOf({ targetRef }: DeepReadonly<Endpoint>): string {
  return targetRef?.uid ?? '';
}
