import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { Service } from '@rollkeeper/runtime';

type ReadablePod = DeepReadonly<Pod>;
type ReadableService = DeepReadonly<Service>;
export type IpFamily = 'IPv4' | 'IPv6';

/** A port of a Service on one pod. */
interface ServedPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly appProtocol?: string;
}

/** One pod behind a Service. */
export interface PodEndpoint {
  readonly pod: ReadablePod;
  readonly address: string;
  /** Accepts new connections: the pod is ready and not terminating, or the Service ignores readiness. */
  readonly ready: boolean;
  /** The pod is ready, even if terminating. */
  readonly serving: boolean;
  readonly terminating: boolean;
  /** If the pod has its own name below the Service's. */
  readonly hostname?: string;
  readonly ports: readonly ServedPort[];
}

/** When the pods behind a Service last changed, to measure propagation delays. */
export const CHANGED_AT = 'endpoints.kubernetes.io/last-change-trigger-time';
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';

/** Whether we manage the Service's endpoints: without a selector, another client does. */
export function hasEndpointsFromPods({ spec }: ReadableService): boolean {
  return spec.selector !== undefined && spec.type !== 'ExternalName';
}

export function isHeadless({ spec }: ReadableService): boolean {
  return (spec.clusterIP ?? 'None') === 'None';
}

export function familiesOf({ spec }: ReadableService): readonly IpFamily[] {
  const families = (spec.ipFamilies ?? []).filter((family) => family !== '');
  return families.length === 0 ? ['IPv4'] : families;
}

/**
 * The pods of a Service with an address of that family, by name. Ended pods are omitted. Source: `podToEndpoint`,
 * `getEndpointPorts` and `ShouldPodBeInEndpoints` in k8s.io/endpointslice.
 */
export function podEndpoints(
  service: ReadableService,
  pods: readonly ReadablePod[],
  family: IpFamily,
): readonly PodEndpoint[] {
  const anyState = service.spec.publishNotReadyAddresses === true;
  return pods
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((pod) => {
      const address = addressOf(pod, family);
      if (address === undefined || isPodFinished(pod)) return [];
      const serving = isPodReady(pod);
      const terminating = pod.metadata.deletionTimestamp !== undefined;
      const ready = anyState || (serving && !terminating);
      const { hostname, subdomain } = pod.spec;
      const named = hostname !== undefined && subdomain === service.metadata.name ? { hostname } : {};
      return [{ pod, address, ready, serving, terminating, ...named, ports: portsOf(service, pod) }];
    });
}

/** The parts of a pod that its Services' endpoints contain; other changes need no sync. */
export function endpointFacts(pod: ReadablePod): unknown {
  const { metadata, spec, status } = pod;
  return {
    labels: metadata.labels,
    ips: [status?.podIP, status?.podIPs],
    state: [isPodReady(pod), isPodFinished(pod), metadata.deletionTimestamp !== undefined],
    place: [spec.nodeName, spec.hostname, spec.subdomain],
  };
}

function addressOf({ status }: ReadablePod, family: IpFamily): string | undefined {
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? [status?.podIP];
  return addresses.find((ip) => ip !== undefined && ip !== '' && ip.includes(':') === (family === 'IPv6'));
}

/** A port name that no container of the pod has is skipped for this pod. */
function portsOf({ spec }: ReadableService, pod: ReadablePod): readonly ServedPort[] {
  return (spec.ports ?? []).flatMap(({ appProtocol, name = '', port, protocol = 'TCP', targetPort }) => {
    const target = typeof targetPort === 'string' ? namedPort(pod, targetPort, protocol) : targetPort || port;
    if (target === undefined) return [];
    return [{ name, port: Number(target), protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function namedPort({ spec }: ReadablePod, name: string, protocol: string): number | undefined {
  const ports = spec.containers.flatMap(({ ports: all = [] }) => all);
  const found = ports.find((each) => each.name === name && (each.protocol ?? 'TCP') === protocol);
  return found && Number(found.containerPort);
}
