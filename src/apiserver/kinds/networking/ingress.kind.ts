import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortName,
  checkPortNumber,
  checkWildcardSubdomain,
} from '@rollkeeper/machinery/kubernetes';
import type {
  Ingress as IIngress,
  IngressBackend,
  IngressRule,
  IngressSpec,
} from '@rollkeeper/machinery/types/networking-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { validateIngressStatus, withLoadBalancerStatus } from '../common/load-balancer-status.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { asWritten } from '../../schema/index.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { checkIp } from '../validation/addresses.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { validateLocalReference } from './local-reference.js';

type Ingress = DecodedObject<IIngress>;

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

/** Source: pkg/registry/networking/ingress/strategy.go, ValidateIngressCreate. */
export const INGRESS_KIND = defineKind<Ingress>({
  type: {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'ingresses',
    kind: 'Ingress',
    namespaced: true,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.networking.v1.Ingress',
  shortNames: ['ing'],
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<Ingress>(
    NAME,
    shown(
      'Class',
      ({ metadata, spec }) => spec?.ingressClassName ?? metadata.annotations?.[CLASS_ANNOTATION] ?? '<none>',
    ),
    shown('Hosts', ({ spec }) => hostsText(spec?.rules)),
    shown('Address', ({ status }) =>
      (status?.loadBalancer?.ingress ?? [])
        .map(({ ip, hostname }) => ip || hostname || '')
        .filter((address) => address !== '')
        .join(','),
    ),
    shown('Ports', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
    AGE,
  ),
  prepareForCreate: withLoadBalancerStatus,
  prepareForUpdate: withLoadBalancerStatus,
  warnings: (object, old) => (old ? [] : classWarnings(object)),
  validate(object, errors) {
    validateSpec(object.spec ?? {}, errors);
    if (
      object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined &&
      object.spec?.ingressClassName !== undefined
    )
      errors.push(
        invalid(
          `annotations.${CLASS_ANNOTATION}`,
          object.metadata.annotations[CLASS_ANNOTATION],
          'can not be set when the class field is also set',
        ),
      );
  },
  validateUpdate(object, _old, subresource, errors) {
    if (subresource === '') validateSpec(object.spec ?? {}, errors);
    else validateIngressStatus(object.status?.loadBalancer?.ingress ?? [], errors);
  },
});

/** Source: WarningsOnCreate in pkg/registry/networking/ingress/strategy.go. */
function classWarnings({ metadata, spec }: Readonly<Ingress>): string[] {
  if (metadata.annotations?.[CLASS_ANNOTATION] === undefined || spec?.ingressClassName !== undefined)
    return [];
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
}

function validateSpec(spec: Decoded<IngressSpec>, errors: FieldError[]): void {
  const { rules = [], defaultBackend, ingressClassName, tls } = spec;
  if (rules.length === 0 && !defaultBackend)
    errors.push(
      invalid(
        'spec',
        asWritten(spec, 'rules') ?? null,
        'either `defaultBackend` or `rules` must be specified',
      ),
    );
  if (defaultBackend) validateBackend(defaultBackend, 'spec.defaultBackend', errors);
  rules.forEach((rule, index) => validateRule(rule, `spec.rules[${index}]`, errors));
  tls?.forEach(({ hosts, secretName }, index) => {
    const path = `spec.tls[${index}]`;
    hosts?.forEach((host, at) => validateHost(host, `${path}.hosts[${at}]`, errors));
    if (secretName) validateSyntax(secretName, checkDns1123Subdomain, `${path}.secretName`, errors);
  });
  if (ingressClassName !== undefined)
    validateSyntax(ingressClassName, checkDns1123Subdomain, 'spec.ingressClassName', errors);
}

function validateHost(host: string, field: string, errors: FieldError[]): void {
  validateSyntax(host, host.includes('*') ? checkWildcardSubdomain : checkDns1123Subdomain, field, errors);
}

function validateRule({ host, http }: Decoded<IngressRule>, path: string, errors: FieldError[]): void {
  if (host) {
    if (checkIp(host).length === 0)
      errors.push(invalid(`${path}.host`, host, 'must be a DNS name, not an IP address'));
    validateHost(host, `${path}.host`, errors);
  }
  if (!http) return;
  const paths = http.paths ?? [];
  if (paths.length === 0) errors.push(required(`${path}.http.paths`));
  paths.forEach(({ path: route = '', pathType, backend }, index) => {
    const at = `${path}.http.paths[${index}]`;
    if (pathType === undefined) {
      errors.push(required(`${at}.pathType`, 'pathType must be specified'));
      return;
    }
    validateRoute(route, pathType, at, errors);
    validateBackend(backend ?? {}, `${at}.backend`, errors);
  });
}

/** Source: validateHTTPIngressPath. */
function validateRoute(route: string, type: string, path: string, errors: FieldError[]): void {
  const field = `${path}.path`;
  if (type === 'Exact' || type === 'Prefix') {
    if (!route.startsWith('/')) errors.push(invalid(field, route, 'must be an absolute path'));
    for (const part of ['//', '/./', '/../', '%2f', '%2F'])
      if (route.includes(part)) errors.push(invalid(field, route, `must not contain '${part}'`));
    for (const end of ['/..', '/.'])
      if (route.endsWith(end)) errors.push(invalid(field, route, `cannot end with '${end}'`));
  } else if (type === 'ImplementationSpecific') {
    if (route !== '' && !route.startsWith('/'))
      errors.push(invalid(field, route, 'must be an absolute path'));
  } else errors.push(notSupported(`${path}.pathType`, type, PATH_TYPES));
}

/** Source: validateIngressBackend. */
function validateBackend(
  { service, resource }: Decoded<IngressBackend>,
  path: string,
  errors: FieldError[],
): void {
  if (resource && service) {
    errors.push(invalid(path, '', 'cannot set both resource and service backends'));
  } else if (resource) {
    validateLocalReference(resource, `${path}.resource`, errors);
  } else if (service) validateService(service, path, errors);
  else errors.push(invalid(path, '', 'resource or service backend is required'));
}

function validateService(
  { name, port = {} }: NonNullable<Decoded<IngressBackend>['service']>,
  path: string,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(`${path}.service.name`));
  else validateSyntax(name, checkDns1123Label, `${path}.service.name`, errors);
  const { name: portName, number } = port;
  if (portName && number) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (portName) validateSyntax(portName, checkPortName, `${path}.service.port.name`, errors);
  else if (number) validateSyntax(number, checkPortNumber, `${path}.service.port.number`, errors);
  else errors.push(required(path, 'port name or number is required'));
}

/** The first three and how many more. */
function hostsText(rules: readonly Decoded<IngressRule>[] = []): string {
  const hosts = rules.map(({ host }) => host ?? '').filter((host) => host !== '');
  if (hosts.length === 0) return '*';
  const text = hosts.slice(0, 3).join(',');
  return hosts.length > 3 ? `${text} + ${hosts.length - 3} more...` : text;
}
