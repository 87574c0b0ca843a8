import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { checkIp } from '../validation/addresses.js';
import { forbidden, invalid, notSupported } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

interface Exposed {
  status?: { loadBalancer?: object };
}

/** A struct that is no pointer in Go, so that a genuine server shows it from the beginning: clients read what is in it without asking. */
export function withLoadBalancerStatus(object: Exposed): void {
  if (object.status?.loadBalancer === undefined) object.status = { ...object.status, loadBalancer: {} };
}

interface Reached {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
}

const MODES = ['Proxy', 'VIP'];

/**
 * Validates the addresses at which a service is reached. Source: ValidateLoadBalancerStatus in
 * pkg/apis/core/validation/validation.go.
 */
export function validateLoadBalancerStatus(ingress: readonly Reached[], errors: FieldError[]): void {
  ingress.forEach((place, index) => {
    const path = `status.loadBalancer.ingress[${index}]`;
    const { ip, ipMode } = place;
    if (ip) validateSyntax(ip, checkIp, `${path}.ip`, errors);
    if (ip && ipMode !== undefined && !MODES.includes(ipMode))
      errors.push(notSupported(`${path}.ipMode`, ipMode, MODES));
    if (!ip && ipMode !== undefined)
      errors.push(forbidden(`${path}.ipMode`, 'may not be specified when `ip` is not set'));
    validateReachedName(place, path, errors);
  });
}

/** The same of an Ingress, whose addresses have no mode. Source: ValidateIngressLoadBalancerStatus. */
export function validateIngressStatus(ingress: readonly Reached[], errors: FieldError[]): void {
  ingress.forEach((place, index) => {
    const path = `status.loadBalancer.ingress[${index}]`;
    if (place.ip) validateSyntax(place.ip, checkIp, `${path}.ip`, errors);
    validateReachedName(place, path, errors);
  });
}

function validateReachedName({ hostname }: Reached, path: string, errors: FieldError[]): void {
  if (!hostname) return;
  validateSyntax(hostname, checkDns1123Subdomain, `${path}.hostname`, errors);
  if (checkIp(hostname).length === 0)
    errors.push(invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
}
