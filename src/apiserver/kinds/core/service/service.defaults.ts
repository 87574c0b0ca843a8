import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ServicePort, ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import { familyOf } from '../../validation/addresses.js';

const AFFINITY_SECONDS = 10_800;

/** Whether a service of this type has an address within the cluster, if it wants one. */
export function hasClusterIp({ type }: Decoded<ServiceSpec>): boolean {
  return type !== 'ExternalName';
}

export function isExternal({ type, externalIPs }: Decoded<ServiceSpec>): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && !!externalIPs?.length);
}

/** Source: SetDefaults_Service in pkg/apis/core/v1/defaults.go. */
export function defaultService(spec: Decoded<ServiceSpec>): void {
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const config = ((spec.sessionAffinityConfig ??= {}).clientIP ??= {});
    config.timeoutSeconds ??= AFFINITY_SECONDS;
  }
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) defaultPort(port);
  if (isExternal(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (hasClusterIp(spec)) spec.internalTrafficPolicy ??= 'Cluster';
  else delete spec.internalTrafficPolicy;
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

function defaultPort(port: Decoded<ServicePort>): void {
  port.protocol ??= 'TCP';
  if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
    port.targetPort = port.port;
}

/** The one address and the list of addresses say the same, and the families are those of the addresses. */
export function withPlainAddresses(spec: Decoded<ServiceSpec>): void {
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  if (!hasClusterIp(spec)) return;
  if (spec.ipFamilyPolicy === undefined) {
    const isDual = (spec.ipFamilies?.length ?? 0) > 1 || (spec.clusterIPs?.length ?? 0) > 1;
    spec.ipFamilyPolicy = isDual ? 'RequireDualStack' : 'SingleStack';
  }
  if (spec.ipFamilies?.length) return;
  const addresses = (spec.clusterIPs ?? []).filter((address) => address !== 'None' && address !== '');
  spec.ipFamilies = addresses.length > 0 ? addresses.map(familyOf) : ['IPv4'];
}

/**
 * Keeps what was chosen for a service when the manifest it was made from is written once more. Source:
 * patchAllocatedValues and normalizeClusterIPs in pkg/registry/core/service.
 */
export function keepAllocated(spec: Decoded<ServiceSpec>, old: Decoded<ServiceSpec>): void {
  if (hasClusterIp(spec) && hasClusterIp(old)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs && spec.clusterIP === old.clusterIP)
      spec.clusterIPs = [...old.clusterIPs];
    if (!spec.ipFamilies?.length && old.ipFamilies) spec.ipFamilies = [...old.ipFamilies];
    spec.ipFamilyPolicy ??= old.ipFamilyPolicy;
  }
  if (!hasClusterIp(spec) && spec.clusterIP === old.clusterIP) {
    // A service that is now only a name for something outside releases its addresses.
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const)
      delete spec[field];
  }
  dropForeign(spec, old);
  if (wantsNodePorts(spec) && wantsNodePorts(old)) keepNodePorts(spec, old);
  if (wantsHealthPort(spec) && wantsHealthPort(old)) spec.healthCheckNodePort ??= old.healthCheckNodePort;
  withPlainAddresses(spec);
}

export function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: Decoded<ServiceSpec>): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

export function wantsHealthPort({ type, externalTrafficPolicy }: Decoded<ServiceSpec>): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/**
 * Drops fields that only the former type has, unless they were changed in the same write. Source:
 * dropTypeDependentFields in pkg/registry/core/service/strategy.go.
 */
function dropForeign(spec: Decoded<ServiceSpec>, old: Decoded<ServiceSpec>): void {
  const isLeft = (has: (one: Decoded<ServiceSpec>) => boolean): boolean => has(old) && !has(spec);
  const drop = (field: keyof Decoded<ServiceSpec>): void => {
    if (spec[field] === old[field]) delete spec[field];
  };
  const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
  const hasNewPorts = (spec.ports ?? []).some(({ nodePort }) => nodePort && !before.has(nodePort));
  if (isLeft(wantsNodePorts) && !hasNewPorts) for (const port of spec.ports ?? []) delete port.nodePort;
  if (isLeft(wantsHealthPort)) drop('healthCheckNodePort');
  if (isLeft(isExternal)) drop('externalTrafficPolicy');
  if (isLeft(({ type }) => type === 'LoadBalancer')) {
    drop('allocateLoadBalancerNodePorts');
    drop('loadBalancerClass');
  }
}

function keepNodePorts(spec: Decoded<ServiceSpec>, old: Decoded<ServiceSpec>): void {
  const identity = ({ protocol, port }: Decoded<ServicePort>): string => `${protocol ?? 'TCP'}/${port}`;
  const taken = new Set((spec.ports ?? []).map(({ nodePort, protocol }) => `${protocol}/${nodePort}`));
  const before = new Map((old.ports ?? []).map((port) => [identity(port), port.nodePort]));
  for (const port of spec.ports ?? []) {
    const nodePort = before.get(identity(port));
    if (port.nodePort || !nodePort || taken.has(`${port.protocol}/${nodePort}`)) continue;
    port.nodePort = nodePort;
  }
}
