import { checkDns1123Label } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject, ObjectMeta } from '@rollkeeper/machinery/kubernetes';
import type { Service as IService, ServicePort, ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import { labelsText } from '../../common/columns.js';
import { AGE, NAME, printed, shown, wide } from '../../common/printed-columns.js';
import { withLoadBalancerStatus } from '../../common/load-balancer-status.js';
import { defineKind } from '../../define-kind.js';
import { defaultService, keepAllocated, withPlainAddresses } from './service.defaults.js';
import { SERVICE_RESERVATIONS } from './service.reservations.js';
import {
  allocationProblems,
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from './service.validation.js';

const OLD_TOPOLOGY = 'service.kubernetes.io/topology-aware-hints';

/**
 * Warns of fields of a Service that are valid, and without effect or about to go. Source: pkg/api/service/warnings.go.
 */
function serviceWarnings({ annotations }: ObjectMeta, spec: Decoded<ServiceSpec>): string[] {
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

type Service = DecodedObject<IService>;

/** Source: pkg/registry/core/service (storage and strategy). */
export const SERVICE_KIND = defineKind<Service>({
  type: { group: '', version: 'v1', resource: 'services', kind: 'Service', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.Service',
  answersDeleted: true,
  shortNames: ['svc'],
  categories: ['all'],
  hasStatus: true,
  subresources: ['proxy'],
  createsOnUpdate: true,
  checkName: checkDns1123Label,
  ...printed<Service>(
    NAME,
    shown('Type', ({ spec }) => spec?.type ?? ''),
    shown('Cluster-IP', ({ spec }) => spec?.clusterIP || '<none>'),
    shown('External-IP', externalAddress),
    shown('Port(s)', ({ spec }) => portsText(spec?.ports)),
    AGE,
    wide('Selector', ({ spec }) => labelsText(spec?.selector)),
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    defaultService(spec);
    if (spec.type === 'LoadBalancer')
      for (const place of object.status?.loadBalancer?.ingress ?? []) if (place.ip) place.ipMode ??= 'VIP';
  },
  prepareForCreate(object) {
    withPlainAddresses(object.spec ?? {});
    withLoadBalancerStatus(object);
  },
  prepareForUpdate(object, old, subresource) {
    withLoadBalancerStatus(object);
    if (subresource === '') keepAllocated((object.spec ??= {}), old.spec ?? {});
  },
  warnings: ({ metadata, spec }) => {
    return serviceWarnings(metadata, spec ?? {});
  },
  validateFirst: ({ spec }, subresource) => (subresource === '' ? allocationProblems(spec ?? {}) : []),
  validate: ({ spec }, errors) => validateService(spec ?? {}, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === '') validateServiceUpdate(object.spec ?? {}, old.spec ?? {}, errors);
    if (subresource === 'status') validateServiceStatus(object, errors);
  },
  selectableFields: ({ spec }) => ({
    'spec.clusterIP': spec?.clusterIP ?? '',
    'spec.type': spec?.type ?? '',
  }),
  reservations: SERVICE_RESERVATIONS,
});

/** Source: getServiceExternalIP in pkg/printers/internalversion/printers.go. */
function externalAddress({ spec = {}, status }: Readonly<Service>): string {
  const given = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ExternalName':
      return spec.externalName ?? '';
    case 'LoadBalancer': {
      const balanced = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      const all = [...balanced, ...given].filter((address) => address !== '');
      return all.length > 0 ? all.join(',') : '<pending>';
    }
    default:
      return given.length > 0 ? given.join(',') : '<none>';
  }
}

function portsText(ports: readonly Decoded<ServicePort>[] | undefined): string {
  if (!ports?.length) return '<none>';
  return ports
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? 'TCP'}`)
    .join(',');
}
