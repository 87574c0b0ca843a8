import type { ServicePort, ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { Decoded, KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { Reservation, Reservations } from '../../kind-definition.js';
import { internalError } from '../../../schema/errors/index.js';
import { addressText, parseCidr } from '../../validation/addresses.js';
import { invalid } from '../../validation/field-errors.js';
import { hasClusterIp, wantsHealthPort, wantsNodePorts } from './service.defaults.js';

/** The networks from which services get their addresses, as kubeadm sets clusters up. The second is for dual stack. */
export const SERVICE_NETWORKS = { IPv4: '10.96.0.0/12', IPv6: 'fd00:10:96::/108' } as const;
export const NODE_PORTS = { first: 30_000, last: 32_767 } as const;

/** Addresses at the beginning of a network. A service only gets one of them by naming it. Source: KEP-3070. */
const RESERVED_ADDRESSES = 256n;

/** Cluster addresses and ports of nodes: no two services have the same. */
export const SERVICE_RESERVATIONS: Reservations = { wanted, choose };

interface ServiceLike extends KubernetesObject {
  spec?: Decoded<ServiceSpec>;
}

function wanted(object: Readonly<UnstructuredObject>): Reservation[] {
  const { metadata, spec = {} }: ServiceLike = object;
  const owner = { namespace: metadata.namespace ?? '', name: metadata.name };
  const addresses = hasClusterIp(spec) ? (spec.clusterIPs ?? []) : [];
  const reservations = addresses
    .filter((address) => address !== 'None' && address !== '')
    .map((address, index) => addressReservation(address, index, owner));
  spec.ports?.forEach(({ nodePort, protocol }, index) => {
    if (nodePort)
      reservations.push(portReservation(nodePort, protocol ?? 'TCP', `spec.ports[${index}].nodePort`, owner));
  });
  const health = spec.healthCheckNodePort;
  if (health) reservations.push(portReservation(health, 'TCP', 'spec.healthCheckNodePort', owner));
  return [...new Map(reservations.map((one) => [`${one.resource}/${one.name}`, one])).values()];
}

interface Owner {
  readonly namespace: string;
  readonly name: string;
}

/** Stored as what the genuine server keeps: an IPAddress with the service as its parent. */
function addressReservation(address: string, index: number, owner: Owner): Reservation {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  return {
    resource: 'ipaddresses.networking.k8s.io',
    name: address,
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name: address,
        labels: {
          'ipaddress.kubernetes.io/ip-family': family,
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { group: '', resource: 'services', ...owner } },
    },
    owner,
    refusal: invalid(
      `spec.clusterIPs[${index}]`,
      [address],
      `failed to allocate IP ${address}: provided IP is already allocated`,
    ),
  };
}

/** Stored beside the kinds: not readable by clients. */
function portReservation(port: number, protocol: string, field: string, owner: Owner): Reservation {
  const name = `${port}-${protocol.toLowerCase()}`;
  return {
    resource: 'nodeports.internal',
    name,
    object: {
      apiVersion: 'internal/v1',
      kind: 'NodePort',
      metadata: { name },
      spec: owner,
    },
    owner,
    refusal: invalid(field, port, 'provided port is already allocated'),
  };
}

function choose(object: UnstructuredObject, random: RandomSource): boolean {
  const service: ServiceLike = object;
  const spec = (service.spec ??= {});
  const addresses = chooseAddresses(spec, random);
  const ports = wantsNodePorts(spec) && chooseNodePorts(spec.ports ?? [], random);
  const health = wantsHealthPort(spec) && !spec.healthCheckNodePort;
  if (health) spec.healthCheckNodePort = somePort(random);
  return addresses || ports || health;
}

function chooseAddresses(spec: Decoded<ServiceSpec>, random: RandomSource): boolean {
  if (!hasClusterIp(spec) || spec.clusterIP === 'None') return false;
  const families = spec.ipFamilies ?? ['IPv4'];
  const known = spec.clusterIPs ?? [];
  if (known.length >= families.length) return false;
  spec.clusterIPs = families.map(
    (family, index) => known[index] ?? someAddress(family === 'IPv6' ? 'IPv6' : 'IPv4', random),
  );
  spec.clusterIP = spec.clusterIPs[0];
  return true;
}

function someAddress(family: 'IPv4' | 'IPv6', random: RandomSource): string {
  const network = parseCidr(SERVICE_NETWORKS[family]);
  if (!network) throw new RangeError(`${SERVICE_NETWORKS[family]} is no network`);
  const size = 1n << BigInt((family === 'IPv4' ? 32 : 128) - network.bits);
  const free = Number(size - RESERVED_ADDRESSES - 1n);
  return addressText(network.base + RESERVED_ADDRESSES + BigInt(Math.floor(random.next() * free)), family);
}

/** A valid Service uses one port number at most once for each of three protocols. */
const MOST_TWINS = 10;

/** Ports of the same number and different protocols may share one of the node's. */
function chooseNodePorts(ports: readonly Decoded<ServicePort>[], random: RandomSource): boolean {
  let hasChosen = false;
  const taken = new Set(ports.flatMap(({ nodePort }) => nodePort || []));
  const byNumber = Map.groupBy(ports, ({ port }) => port);
  for (const port of ports) {
    if (port.nodePort) continue;
    const twin = byNumber
      .get(port.port)
      ?.slice(0, MOST_TWINS)
      .find((other) => other.nodePort && other.protocol !== port.protocol);
    if (!twin && taken.size > NODE_PORTS.last - NODE_PORTS.first)
      throw internalError('failed to allocate a nodePort: range is full');
    let choice = twin?.nodePort ?? somePort(random);
    while (!twin && taken.has(choice)) choice = somePort(random);
    taken.add(choice);
    port.nodePort = choice;
    hasChosen = true;
  }
  return hasChosen;
}

function somePort(random: RandomSource): number {
  return NODE_PORTS.first + Math.floor(random.next() * (NODE_PORTS.last - NODE_PORTS.first + 1));
}
