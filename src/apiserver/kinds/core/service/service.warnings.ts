import type { ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, ObjectMeta } from '@rollkeeper/machinery/kubernetes';

const OLD_TOPOLOGY = 'service.kubernetes.io/topology-aware-hints';

/**
 * Warns of fields of a Service that are valid, and without effect or about to go. Source: pkg/api/service/warnings.go.
 */
export function serviceWarnings({ annotations }: ObjectMeta, spec: Decoded<ServiceSpec>): string[] {
  const warnings: string[] = [];
  const { clusterIP, externalIPs = [], externalName, loadBalancerIP, sessionAffinity, type } = spec;
  const isHeadless = type === 'ClusterIP' && clusterIP === 'None';
  const isName = type === 'ExternalName';
  if (annotations?.[OLD_TOPOLOGY] !== undefined)
    warnings.push(
      `annotation ${OLD_TOPOLOGY} is deprecated, please use service.kubernetes.io/topology-mode instead`,
    );
  if (isHeadless && loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services');
  if (isHeadless && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored for headless services');
  if (isHeadless && sessionAffinity !== 'None')
    warnings.push('spec.SessionAffinity is ignored for headless services');
  if (externalIPs.length > 0 && !isHeadless && !isName)
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (isName && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && externalName)
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}
