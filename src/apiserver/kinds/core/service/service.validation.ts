import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortName,
  checkPortNumber,
  checkQualifiedName,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { Service, ServicePort, ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { checkCidr, checkIp, isSloppyIp } from '../../validation/addresses.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { internalForm } from '../../validation/internal-form.js';
import { validateLabels } from '../../validation/labels.js';
import { validateLoadBalancerStatus } from '../../common/load-balancer-status.js';
import { validateSyntax, validateWords } from '../../validation/words.js';
import type { WordRule } from '../../validation/words.js';
import { addressProblems, validateAddressesUpdate } from './addresses.validation.js';
import { isExternal, wantsHealthPort } from './service.defaults.js';
import { NODE_PORTS } from './service.reservations.js';

const AFFINITY: WordRule = { field: 'sessionAffinity', words: ['ClientIP', 'None'], isRequired: true };
const TYPE: WordRule = {
  field: 'type',
  words: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
  isRequired: true,
};
const TRAFFIC: readonly WordRule[] = [
  { field: 'internalTrafficPolicy', words: ['Cluster', 'Local'] },
  {
    field: 'trafficDistribution',
    words: ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
  },
];
const PROTOCOLS: readonly WordRule[] = [
  { field: 'protocol', words: ['SCTP', 'TCP', 'UDP'], isRequired: true },
];
const MAX_AFFINITY_SECONDS = 86_400;

/**
 * Validates the fields by which addresses and ports are allocated. Source: pkg/registry/core/service/storage/alloc.go.
 */
export function allocationProblems(spec: Decoded<ServiceSpec>): readonly FieldError[] {
  const errors = addressProblems(spec);
  const hasNodePorts = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  if (errors.length === 0 && hasNodePorts) validateNodePortRange(spec, errors);
  return errors;
}

/** Source: ValidateService in pkg/apis/core/validation/validation.go. */
export function validateService(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const isHeadless = spec.clusterIP === 'None';
  if (!spec.ports?.length && !isHeadless && spec.type !== 'ExternalName') errors.push(required('spec.ports'));
  validateType(spec, errors);
  const names = new Set<string>();
  spec.ports?.forEach((port, index, { length }) =>
    validatePort(port, { needsName: length > 1, names, path: `spec.ports[${index}]` }, errors),
  );
  validateLabels(spec.selector, 'spec.selector', errors);
  validateAffinity(spec, errors);
  spec.externalIPs?.forEach((address, index) => {
    const field = `spec.externalIPs[${index}]`;
    const problems = checkIp(address);
    if (problems.length > 0) validateSyntax(address, () => problems, field, errors);
    else validateOrdinaryAddress(address, field, errors);
  });
  validateWords(spec, [TYPE], 'spec', errors);
  validateNodePorts(spec, errors);
  validateDistinctPorts(spec.ports ?? [], errors);
  validateBalancer(spec, errors);
  validateTraffic(spec, errors);
  validateWords(spec, TRAFFIC, 'spec', errors);
}

function validateType(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const isHeadless = spec.clusterIP === 'None';
  switch (spec.type) {
    case 'LoadBalancer':
      if (isHeadless)
        errors.push(
          invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for LoadBalancer services"),
        );
      break;
    case 'NodePort':
      if (isHeadless)
        errors.push(invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services"));
      break;
    case 'ExternalName':
      for (const field of ['clusterIPs', 'ipFamilies'] as const)
        if (spec[field]?.length)
          errors.push(forbidden(`spec.${field}`, 'may not be set for ExternalName services'));
      if (spec.ipFamilyPolicy !== undefined)
        errors.push(forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services'));
      // The final dot is allowed, and no part of the name.
      if (spec.externalName)
        validateSyntax(
          spec.externalName.replace(/\.$/, ''),
          checkDns1123Subdomain,
          'spec.externalName',
          errors,
        );
      else errors.push(required('spec.externalName'));
  }
}

/** A chosen port must be in this range, which is checked before the rest of it. */
function validateNodePortRange({ ports = [] }: Decoded<ServiceSpec>, errors: FieldError[]): void {
  ports.forEach(({ nodePort }, index) => {
    if (nodePort && (nodePort < NODE_PORTS.first || nodePort > NODE_PORTS.last))
      errors.push(
        invalid(
          `spec.ports[${index}].nodePort`,
          nodePort,
          `provided port is not in the valid range. The range of valid ports is ${NODE_PORTS.first}-${NODE_PORTS.last}`,
        ),
      );
  });
}

function validateNodePorts({ ports = [], type }: Decoded<ServiceSpec>, errors: FieldError[]): void {
  ports.forEach(({ nodePort }, index) => {
    if (type === 'ClusterIP' && nodePort)
      errors.push(forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  });
  const seen = new Set<string>();
  ports.forEach(({ nodePort, protocol }, index) => {
    if (!nodePort) return;
    const place = `${protocol}/${nodePort}`;
    if (seen.has(place)) errors.push(duplicate(`spec.ports[${index}].nodePort`, nodePort));
    seen.add(place);
  });
}

function validateDistinctPorts(ports: readonly Decoded<ServicePort>[], errors: FieldError[]): void {
  const seen = new Set<string>();
  ports.forEach(({ port, protocol }, index) => {
    const place = `${protocol}/${port}`;
    if (seen.has(place))
      errors.push(duplicate(`spec.ports[${index}]`, internalForm('core.ServicePort', { port, protocol })));
    seen.add(place);
  });
}

function validatePort(
  port: Decoded<ServicePort>,
  { needsName, names, path }: { needsName: boolean; names: Set<string>; path: string },
  errors: FieldError[],
): void {
  const { name, targetPort } = port;
  if (needsName && !name) errors.push(required(`${path}.name`));
  else if (name) {
    validateSyntax(name, checkDns1123Label, `${path}.name`, errors);
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  }
  validateSyntax(port.port ?? 0, checkPortNumber, `${path}.port`, errors);
  validateWords(port, PROTOCOLS, path, errors);
  if (typeof targetPort === 'string') validateSyntax(targetPort, checkPortName, `${path}.targetPort`, errors);
  else validateSyntax(targetPort ?? 0, checkPortNumber, `${path}.targetPort`, errors);
  if (port.appProtocol !== undefined)
    validateSyntax(port.appProtocol, checkQualifiedName, `${path}.appProtocol`, errors);
}

function validateAffinity(
  { sessionAffinity, sessionAffinityConfig }: Decoded<ServiceSpec>,
  errors: FieldError[],
): void {
  const field = 'spec.sessionAffinityConfig';
  validateWords({ sessionAffinity }, [AFFINITY], 'spec', errors);
  if (sessionAffinity === 'None' && sessionAffinityConfig) {
    errors.push(forbidden(field, 'must not be set when session affinity is None'));
  }
  if (sessionAffinity !== 'ClientIP') return;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined) {
    errors.push(required(field, 'when session affinity type is ClientIP'));
  } else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS)
    errors.push(
      invalid(
        `${field}.clientIP.timeoutSeconds`,
        seconds,
        `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`,
      ),
    );
}

/** Addresses that lead nowhere, or to oneself. Source: ValidateNonSpecialIP. */
export function validateOrdinaryAddress(address: string, field: string, errors: FieldError[]): void {
  if (!isSloppyIp(address)) {
    errors.push(invalid(field, address, 'must be a valid IP address'));
    return;
  }
  const special: readonly (readonly [RegExp, string])[] = [
    [/^(0\.0\.0\.0|::)$/, `may not be unspecified (${address})`],
    [/^(127\.|::1$)/, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    [/^(224\.0\.0\.|ff02:)/i, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ];
  for (const [pattern, problem] of special)
    if (pattern.test(address)) errors.push(invalid(field, address, problem));
}

function validateTraffic(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const field = 'spec.externalTrafficPolicy';
  const policy = spec.externalTrafficPolicy ?? '';
  if (isExternal(spec)) {
    if (policy === '') errors.push(required(field));
    else if (policy !== 'Cluster' && policy !== 'Local')
      errors.push(notSupported(field, policy, ['Cluster', 'Local']));
  } else if (policy !== '')
    errors.push(invalid(field, policy, 'may only be set for externally-accessible services'));
  const port = spec.healthCheckNodePort ?? 0;
  if (wantsHealthPort(spec)) {
    if (port !== 0) validateSyntax(port, checkPortNumber, 'spec.healthCheckNodePort', errors);
  } else if (port !== 0)
    errors.push(
      invalid(
        'spec.healthCheckNodePort',
        port,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
}

function validateBalancer(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const isBalancer = spec.type === 'LoadBalancer';
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0 && !isBalancer)
    errors.push(forbidden('spec.LoadBalancerSourceRanges', "may only be used when `type` is 'LoadBalancer'"));
  ranges.forEach((range, index) =>
    validateSyntax(range.trim(), checkCidr, `spec.LoadBalancerSourceRanges[${index}]`, errors),
  );
  if (!isBalancer && spec.allocateLoadBalancerNodePorts !== undefined)
    errors.push(
      forbidden('spec.allocateLoadBalancerNodePorts', "may only be used when `type` is 'LoadBalancer'"),
    );
  validateBalancerClass(spec, errors);
}

/** Source: validateLoadBalancerClassField, which an update calls twice. */
function validateBalancerClass(
  { loadBalancerClass, type }: Decoded<ServiceSpec>,
  errors: FieldError[],
  old?: Decoded<ServiceSpec>,
): void {
  const field = 'spec.loadBalancerClass';
  const isBalancer = type === 'LoadBalancer';
  if (isBalancer && old?.type === 'LoadBalancer' && loadBalancerClass !== old.loadBalancerClass)
    errors.push(invalid(field, loadBalancerClass ?? null, 'may not change once set'));
  if (loadBalancerClass === undefined) return;
  if (isBalancer) validateSyntax(loadBalancerClass, checkQualifiedName, field, errors);
  else errors.push(forbidden(field, "may only be used when `type` is 'LoadBalancer'"));
}

/** Source: ValidateServiceUpdate. */
export function validateServiceUpdate(
  spec: Decoded<ServiceSpec>,
  old: Decoded<ServiceSpec>,
  errors: FieldError[],
): void {
  validateAddressesUpdate(spec, old, errors);
  validateBalancerClass(spec, errors, old);
  if (
    wantsHealthPort(spec) &&
    wantsHealthPort(old) &&
    (spec.healthCheckNodePort ?? 0) !== (old.healthCheckNodePort ?? 0)
  )
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  validateService(spec, errors);
}

/** Only a load balancer has addresses of one. Source: ValidateLoadBalancerStatus. */
export function validateServiceStatus(
  { spec, status }: Readonly<DecodedObject<Service>>,
  errors: FieldError[],
): void {
  const ingress = status?.loadBalancer?.ingress ?? [];
  if (spec?.type === 'LoadBalancer') validateLoadBalancerStatus(ingress, errors);
  else if (ingress.length > 0)
    errors.push(
      forbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'"),
    );
}
