import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { checkIp, containsAddress, familyOf, parseCidr } from '../../validation/addresses.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { hasClusterIp } from './service.defaults.js';
import { SERVICE_NETWORKS } from './service.reservations.js';

const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const FAMILIES = ['IPv4', 'IPv6'];
const PATH = 'spec.clusterIPs';

/** Source: ValidateServiceClusterIPsRelatedFields in pkg/apis/core/validation/validation.go. */
export function validateAddresses(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (spec.type === 'ExternalName') {
    for (const field of ['clusterIPs', 'ipFamilies'] as const)
      if (spec[field]?.length)
        errors.push(forbidden(`spec.${field}`, 'may not be set for ExternalName services'));
    if (ipFamilyPolicy)
      errors.push(forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services'));
    return;
  }
  if (clusterIP === '' && clusterIPs.length > 0)
    errors.push(invalid(PATH, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  if (clusterIP !== '' && clusterIPs.length === 0) errors.push(required(PATH));
  if (clusterIP !== '' && clusterIPs.length > 0 && clusterIPs[0] !== clusterIP)
    errors.push(invalid(PATH, clusterIPs, 'first value must match `clusterIP`'));
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy))
    errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, POLICIES));
  validateFamilies(ipFamilies, errors);
  validateList(clusterIPs, ipFamilies, errors);
  if (ipFamilyPolicy === 'SingleStack' && (clusterIPs.length > 1 || ipFamilies.length > 1))
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        "must be RequireDualStack or PreferDualStack when multiple `clusterIPs` or 'ipFamilies' are specified",
      ),
    );
}

function validateFamilies(families: readonly string[], errors: FieldError[]): void {
  const seen = new Set<string>();
  families.forEach((family, index) => {
    const field = `spec.ipFamilies[${index}]`;
    if (!FAMILIES.includes(family)) errors.push(notSupported(field, family, FAMILIES));
    if (seen.has(family)) errors.push(duplicate(field, family));
    seen.add(family);
  });
}

function validateList(addresses: readonly string[], families: readonly string[], errors: FieldError[]): void {
  if (addresses.length > 2) errors.push(invalid(PATH, addresses, 'may only hold up to 2 values'));
  const seen = new Set<string>();
  addresses.forEach((address, index) => {
    const field = `${PATH}[${index}]`;
    if (seen.has(address)) errors.push(duplicate(field, address));
    seen.add(address);
    if (address === 'None') {
      if (addresses.length > 1 && index === 0)
        errors.push(invalid(PATH, addresses, "'None' must be the first and only value"));
      return;
    }
    if (address === '') return;
    const problems = checkIp(address);
    for (const problem of problems) errors.push(invalid(field, address, problem));
    if (problems.length > 0) return;
    const family = familyOf(address);
    if (families[index] !== undefined && families[index] !== family)
      errors.push(
        invalid(
          field,
          address,
          `expected an ${families[index]} value as indicated by \`ipFamilies[${index}]\``,
        ),
      );
    const network = SERVICE_NETWORKS[family];
    const cidr = parseCidr(network);
    if (cidr && !containsAddress(cidr, address))
      errors.push(
        invalid(
          field,
          addresses,
          `failed to allocate IP ${address}: the provided IP (${address}) is not in the valid range. The range of valid IPs is ${network}`,
        ),
      );
  });
  if (addresses.length === 2 && addresses.every((address) => checkIp(address).length === 0)) {
    if (familyOf(addresses[0] ?? '') === familyOf(addresses[1] ?? ''))
      errors.push(
        invalid(
          PATH,
          addresses,
          'may specify no more than one IP for each IP family, i.e 192.168.0.1 and 2001:db8::1',
        ),
      );
  }
}

/** Addresses and families stay what they are; a second may come or go. Source: validateUpgradeDowngradeClusterIPs. */
export function validateAddressesUpdate(
  spec: Decoded<ServiceSpec>,
  old: Decoded<ServiceSpec>,
  errors: FieldError[],
): void {
  if (!hasClusterIp(spec) || !hasClusterIp(old) || !old.clusterIPs?.length) return;
  const [before, after] = [old.clusterIPs, spec.clusterIPs ?? []];
  if (after.length === 0 || after[0] !== before[0])
    errors.push(
      invalid(
        `${PATH}[0]`,
        after,
        after.length === 0 ? 'primary clusterIP can not be unset' : 'may not change once set',
      ),
    );
  if (before.length > 1 && after.length > 1 && before[1] !== after[1])
    errors.push(invalid(`${PATH}[1]`, after, 'may not change once set'));
  const [families, now] = [old.ipFamilies ?? [], spec.ipFamilies ?? []];
  if (families.length > 0 && now[0] !== families[0])
    errors.push(invalid('spec.ipFamilies[0]', now, 'primary ipFamily can not be changed'));
}
