import type { IPAddress, ParentReference, ServiceCIDR } from '@rollkeeper/machinery/types/networking-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import {
  checkDns1123Subdomain,
  checkPathSegment,
  FIELD_IMMUTABLE,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { checkCidr, checkIp, parseCidr } from '../validation/addresses.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type Network = DecodedObject<ServiceCIDR>;
type Address = DecodedObject<IPAddress>;

/** Source: ValidateServiceCIDR in pkg/apis/networking/validation/validation.go. */
export const SERVICE_CIDR_KIND = defineKind<Network>({
  type: {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'servicecidrs',
    kind: 'ServiceCIDR',
    namespaced: false,
  },
  schema: 'io.k8s.api.networking.v1.ServiceCIDR',
  ownershipFrom: 'creation',
  hasStatus: true,
  ...printed<Network>(
    NAME,
    shown('CIDRs', ({ spec }) => (spec?.cidrs ?? []).join(',')),
    AGE,
  ),
  validate({ spec }, errors) {
    const networks = spec?.cidrs ?? [];
    if (networks.length === 0) errors.push(required('spec.cidrs', 'at least one CIDR required'));
    if (networks.length > 2) errors.push(invalid('spec', spec, 'may only hold up to 2 values'));
    networks.forEach((network, index) => validateSyntax(network, checkCidr, `spec.cidrs[${index}]`, errors));
    const families = networks.map((network) => parseCidr(network)?.family);
    if (networks.length === 2 && families[0] !== undefined && families[0] === families[1])
      errors.push(
        invalid(
          'spec',
          spec,
          'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
        ),
      );
  },
  keptWithStatus: ALL_BUT_STATUS,
  validateUpdate(object, old, subresource, errors) {
    const before = old.spec?.cidrs ?? [];
    const after = object.spec?.cidrs ?? [];
    if (subresource !== '') return;
    before.forEach((network, index) => {
      if (after[index] !== undefined && after[index] !== network)
        errors.push(invalid(`spec.cidrs[${index}]`, after[index], FIELD_IMMUTABLE));
    });
    if (after.length < before.length) errors.push(invalid('spec.cidrs', after, FIELD_IMMUTABLE));
  },
});

/** The address of one service. Source: ValidateIPAddress. */
export const IP_ADDRESS_KIND = defineKind<Address>({
  type: {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'ipaddresses',
    kind: 'IPAddress',
    namespaced: false,
  },
  schema: 'io.k8s.api.networking.v1.IPAddress',
  ownershipFrom: 'creation',
  shortNames: ['ip'],
  checkName: checkIp,
  ...printed<Address>(
    NAME,
    shown('ParentRef', ({ spec }) => {
      const { group, resource, namespace, name } = spec?.parentRef ?? {};
      const type = group ? `${resource ?? ''}.${group}` : (resource ?? '');
      return [type, namespace, name].filter((part) => part).join('/');
    }),
  ),
  validate: validateParent,
  validateUpdate(object, old, _subresource, errors) {
    validateParent(object, errors);
    const parent = object.spec?.parentRef;
    if (!sameMeaning(parent, old.spec?.parentRef))
      errors.push(invalid('spec.parentRef', parent && internalParent(parent), FIELD_IMMUTABLE));
  },
});

function validateParent({ spec }: Readonly<Address>, errors: FieldError[]): void {
  const parent = spec?.parentRef;
  if (!parent) {
    errors.push(required('spec.parentRef'));
    return;
  }
  if (parent.group) validateSyntax(parent.group, checkDns1123Subdomain, 'spec.parentRef.group', errors);
  for (const field of ['resource', 'name'] as const)
    if (!parent[field]) errors.push(required(`spec.parentRef.${field}`));
    else validateSyntax(parent[field], checkPathSegment, `spec.parentRef.${field}`, errors);
  if (parent.namespace)
    validateSyntax(parent.namespace, checkPathSegment, 'spec.parentRef.namespace', errors);
}

/** As the fields are called inside a genuine server. */
function internalParent({
  group = '',
  resource = '',
  namespace = '',
  name = '',
}: Decoded<ParentReference>): object {
  return { Group: group, Resource: resource, Namespace: namespace, Name: name };
}
