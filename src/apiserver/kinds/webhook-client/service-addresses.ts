import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Endpoints, Service } from '@rollkeeper/machinery/types/core-v1';
import type { EndpointSlice } from '@rollkeeper/machinery/types/discovery-v1';
import type { Storage } from '../../storage/index.js';

interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** The addresses of Services that have no pods with a network here: `namespace/name` → `host:port`. */
type KnownServices = Readonly<Record<string, string>>;

/** Finds where a Service can be reached from this machine. */
export class ServiceAddresses {
  constructor(
    private readonly storage: Storage,
    private readonly known: KnownServices = {},
  ) {}

  /**
   * Returns the address that was given for the Service; else the host that an ExternalName names; else the first ready
   * endpoint, of its EndpointSlices or its Endpoints, unless that is a pod. As `host:port`.
   * @throws Error in the words of kube-apiserver
   */
  async addressOf(wanted: ServicePort): Promise<string> {
    const { name, namespace, port } = wanted;
    const known = this.known[`${namespace}/${name}`];
    if (known !== undefined) return known;
    const found = await this.storage.get({ resource: 'services', namespace, name });
    if (!found) throw new Error(`service ${JSON.stringify(name)} not found`);
    const { spec }: DecodedObject<Service> = found.object;
    if (spec?.type === 'ExternalName') return hostPort(spec.externalName ?? '', port);
    const servicePort = spec?.ports?.find((one) => one.port === port);
    if (!servicePort) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const portName = servicePort.name ?? '';
    const address = (await this.fromSlices(wanted, portName)) ?? (await this.fromEndpoints(wanted, portName));
    if (address === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return address;
  }

  private async fromSlices({ name, namespace }: ServicePort, portName: string): Promise<string | undefined> {
    const { items } = await this.storage.list('endpointslices.discovery.k8s.io', { namespace });
    const slices = items
      .map(({ object }): DecodedObject<EndpointSlice> => object)
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name);
    for (const { endpoints, ports } of slices) {
      const port = ports?.find((one) => (one.name ?? '') === portName)?.port;
      const endpoint = endpoints?.find(({ conditions }) => conditions?.ready !== false);
      const address = endpoint?.addresses?.[0];
      if (port !== undefined && address !== undefined) return reachable(hostPort(address, port), endpoint);
    }
    return undefined;
  }

  private async fromEndpoints(
    { name, namespace }: ServicePort,
    portName: string,
  ): Promise<string | undefined> {
    const found = await this.storage.get({ resource: 'endpoints', namespace, name });
    const endpoints = found && objectOfKind<Endpoints & KubernetesObject>(found.object);
    for (const { addresses, ports } of endpoints?.subsets ?? []) {
      const port = ports?.find((one) => (one.name ?? '') === portName)?.port;
      const address = addresses?.[0];
      if (port !== undefined && address) return reachable(hostPort(address.ip, port), address);
    }
    return undefined;
  }
}

/**
 * Simulated pods listen nowhere: their addresses belong to an unrelated host, if to any.
 * @throws Error as for a port without a listener
 */
function reachable(
  address: string,
  endpoint: { readonly targetRef?: { readonly kind?: string } } | undefined,
): string {
  if (endpoint?.targetRef?.kind === 'Pod')
    throw new Error(`dial tcp ${address}: connect: connection refused`);
  return address;
}

function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
