import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Service, Endpoints } from '@rollkeeper/runtime';
import { familiesOf, podEndpoints } from './pod-endpoint.js';
import type { PodEndpoint } from './pod-endpoint.js';

type Subset = NonNullable<Endpoints['subsets']>[number];
type Address = NonNullable<Subset['addresses']>[number];

/** Limit of an Endpoints object; larger sets need EndpointSlices. */
const MAX_ADDRESSES = 1000;

interface DecidedSubsets {
  readonly subsets: readonly Subset[];
  /** Addresses were left out. */
  readonly isTruncated: boolean;
}

/**
 * The subsets of a Service's Endpoints: pods with the same ports together, unready ones listed separately. Terminating
 * pods are omitted unless the Service publishes every state. If there are too many, ready addresses have precedence.
 * Source: `syncService` in k/k pkg/controller/endpoint, `RepackSubsets`.
 */
export function decideSubsets(
  service: DeepReadonly<Service>,
  pods: Parameters<typeof podEndpoints>[1],
): DecidedSubsets {
  const [family = 'IPv4'] = familiesOf(service);
  const anyState = service.spec.publishNotReadyAddresses === true;
  const hasPorts = (service.spec.ports ?? []).length > 0;
  const all = podEndpoints(service, pods, family)
    .filter(({ ports, terminating }) => (anyState || !terminating) && (ports.length > 0 || !hasPorts))
    .toSorted((a, b) => Number(b.ready) - Number(a.ready));
  const groups = Map.groupBy(all.slice(0, MAX_ADDRESSES), ({ ports }) => portsKey(ports));
  return { subsets: [...groups.values()].map(subsetOf), isTruncated: all.length > MAX_ADDRESSES };
}

function portsKey(ports: PodEndpoint['ports']): string {
  return ports.map(({ name, port, protocol }) => `${name} ${port}/${protocol}`).join();
}

function subsetOf(endpoints: readonly PodEndpoint[]): Subset {
  const addresses = endpoints.filter(({ ready }) => ready).map(addressOf);
  const notReadyAddresses = endpoints.filter(({ ready }) => !ready).map(addressOf);
  const ports = (endpoints[0]?.ports ?? []).map(({ name, ...port }) => ({
    ...(name !== '' && { name }),
    ...port,
  }));
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports }),
  };
}

function addressOf({ address, hostname, pod }: PodEndpoint): Address {
  const { name, namespace, uid } = pod.metadata;
  return {
    ip: address,
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
