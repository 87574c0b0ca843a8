import type { IPAddress, ServiceCIDR } from '@rollkeeper/machinery/types/networking-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { FIELD_IMMUTABLE, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
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
  hasStatus: true,
  ...printed<Network>(
    NAME,
    shown('CIDRs', 'Networks that services get their addresses from.', ({ spec }) =>
      (spec?.cidrs ?? []).join(','),
    ),
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
  validateUpdate(object, old, subresource, errors) {
    const before = old.spec?.cidrs ?? [];
    const after = object.spec?.cidrs ?? [];
    if (subresource === '' && before.some((network, index) => after[index] !== network))
      errors.push(invalid('spec.cidrs', after, FIELD_IMMUTABLE));
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
  shortNames: ['ip'],
  checkName: checkIp,
  ...printed<Address>(
    NAME,
    shown('ParentRef', 'What has the address.', ({ spec }) => {
      const { group, resource, namespace, name } = spec?.parentRef ?? {};
      const type = group ? `${resource ?? ''}.${group}` : (resource ?? '');
      return [type, namespace, name].filter((part) => part).join('/');
    }),
    AGE,
  ),
  validate({ spec }, errors) {
    const parent = spec?.parentRef;
    if (!parent) {
      errors.push(required('spec.parentRef'));
      return;
    }
    if (!parent.resource) errors.push(required('spec.parentRef.resource'));
    if (!parent.name) errors.push(required('spec.parentRef.name'));
  },
  validateUpdate(object, old, _subresource, errors) {
    if (!semanticEqual(object.spec?.parentRef, old.spec?.parentRef))
      errors.push(invalid('spec.parentRef', object.spec?.parentRef, FIELD_IMMUTABLE));
  },
});
