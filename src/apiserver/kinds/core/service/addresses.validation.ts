import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ServiceSpec } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../../kind-definition.js';
import { checkIp, containsAddress, familyOf, parseCidr } from '../../validation/addresses.js';
import { duplicate, invalid, notSupported, required } from '../../validation/field-errors.js';
import { hasClusterIp } from './service.defaults.js';
import { SERVICE_NETWORKS } from './service.reservations.js';

const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const FAMILIES = ['IPv4', 'IPv6'];
const PATH = 'spec.clusterIPs';

/**
 * Validates the fields by which addresses are chosen, before anything else: nothing more is said of a service that has
 * them wrong. Source: ValidateServiceClusterIPsRelatedFields in pkg/apis/core/validation/validation.go,
 * initIPFamilyFields in pkg/registry/core/service/storage.
 */
export function addressProblems(spec: Decoded<ServiceSpec>): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const errors: FieldError[] = [];
  validateAddresses(spec, errors);
  if (errors.length === 0) validateStack(spec, errors);
  if (errors.length === 0) validateRange(spec.clusterIPs ?? [], errors);
  return errors;
}

function validateAddresses(spec: Decoded<ServiceSpec>, errors: FieldError[]): void {
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (clusterIP === '' && clusterIPs.length > 0)
    errors.push(invalid(PATH, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  if (clusterIP !== '' && clusterIPs.length === 0) errors.push(required(PATH));
  if (clusterIP !== '' && clusterIPs.length > 0 && clusterIPs[0] !== clusterIP)
    errors.push(invalid(PATH, clusterIPs, 'first value must match `clusterIP`'));
  validateFamilies(ipFamilies, errors);
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy))
    errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, POLICIES));
  const { length } = errors;
  validateList(clusterIPs, errors);
  if (clusterIPs.length > 2) errors.push(invalid(PATH, clusterIPs, 'may only hold up to 2 values'));
  if (errors.length === length) validateFamiliesOf(clusterIPs, ipFamilies, errors);
}

function validateStack(
  { clusterIPs = [], ipFamilies = [], ipFamilyPolicy }: Decoded<ServiceSpec>,
  errors: FieldError[],
): void {
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

function validateList(addresses: readonly string[], errors: FieldError[]): void {
  addresses.forEach((address, index) => {
    if (index === 0 && address === 'None') {
      if (addresses.length > 1)
        errors.push(invalid(PATH, addresses, "'None' must be the first and only value"));
      return;
    }
    for (const problem of checkIp(address)) errors.push(invalid(`${PATH}[${index}]`, address, problem));
  });
}

function validateFamiliesOf(
  addresses: readonly string[],
  families: readonly string[],
  errors: FieldError[],
): void {
  if (addresses[0] === 'None') return;
  const [first, second] = addresses.map(familyOf);
  if (second !== undefined && first === second)
    errors.push(invalid(PATH, addresses, 'may specify no more than one IP for each IP family'));
  addresses.forEach((address, index) => {
    const family = families[index];
    if (family !== undefined && FAMILIES.includes(family) && family !== familyOf(address))
      errors.push(
        invalid(
          `${PATH}[${index}]`,
          address,
          `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
        ),
      );
  });
}

function validateRange(addresses: readonly string[], errors: FieldError[]): void {
  addresses.forEach((address, index) => {
    if (address === 'None') return;
    const network = SERVICE_NETWORKS[familyOf(address)];
    const cidr = parseCidr(network);
    if (cidr && !containsAddress(cidr, address))
      errors.push(
        invalid(
          `${PATH}[${index}]`,
          addresses,
          `failed to allocate IP ${address}: the provided IP (${address}) is not in the valid range. The range of valid IPs is ${network}`,
        ),
      );
  });
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
