import { checkDns1123Subdomain, checkSubdomainWithUnderscores } from '@rollkeeper/machinery/kubernetes';
import type { PodDNSConfig } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { checkIp } from '../validation/addresses.js';
import { validateSyntax } from '../validation/words.js';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARS = 2048;

/** Source: validatePodDNSConfig and ValidateHostAliases in pkg/apis/core/validation/validation.go. */
export function validateDns(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const { dnsConfig, dnsPolicy, hostAliases } = spec;
  const at = `${path}.dnsConfig`;
  if (dnsPolicy === 'None') {
    if (!dnsConfig) errors.push(required(at, 'must provide `dnsConfig` when `dnsPolicy` is None'));
    else if (!dnsConfig.nameservers?.length)
      errors.push(
        required(`${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
      );
  }
  if (dnsConfig) validateConfig(dnsConfig, at, errors);
  hostAliases?.forEach(({ ip, hostnames }, index) => {
    const alias = `${path}.hostAliases[${index}]`;
    validateSyntax(ip ?? '', checkIp, `${alias}.ip`, errors);
    hostnames?.forEach((name, position) =>
      validateSyntax(name, checkDns1123Subdomain, `${alias}.hostnames[${position}]`, errors),
    );
  });
}

function validateConfig(
  { nameservers = [], searches = [], options }: Decoded<PodDNSConfig>,
  path: string,
  errors: FieldError[],
): void {
  if (nameservers.length > MAX_NAMESERVERS)
    errors.push(
      invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`),
    );
  nameservers.forEach((address, index) =>
    validateSyntax(address, checkIp, `${path}.nameservers[${index}]`, errors),
  );
  if (searches.length > MAX_SEARCHES)
    errors.push(
      invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCHES} search paths`),
    );
  if (searches.join(' ').length > MAX_SEARCH_CHARS)
    errors.push(
      invalid(
        `${path}.searches`,
        searches,
        `must not have more than ${MAX_SEARCH_CHARS} characters (including spaces) in the search list`,
      ),
    );
  searches.forEach((search, index) => validateSearch(search, `${path}.searches[${index}]`, errors));
  options?.forEach(({ name }, index) => {
    if (!name) errors.push(required(`${path}.options[${index}]`, 'must not be empty'));
  });
}

/** A domain, with its final dot or without, whose labels may begin with an underscore; or the root alone. */
function validateSearch(search: string, field: string, errors: FieldError[]): void {
  if (search === '.') return;
  const name = search.replace(/\.$/, '');
  for (const problem of checkSubdomainWithUnderscores(name)) errors.push(invalid(field, search, problem));
}
