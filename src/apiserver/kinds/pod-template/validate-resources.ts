import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ContainerResizePolicy, ResourceRequirements } from '@rollkeeper/machinery/types/core-v1';
import { checkQualifiedName, nanosOf, NON_NEGATIVE, ownField } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notFound, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

const HUGE_PAGES = 'hugepages-';
const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Source: ValidateResourceRequirements in pkg/apis/core/validation/validation.go. */
export function validateResources(
  resources: Decoded<ResourceRequirements> | undefined,
  path: string,
  errors: FieldError[],
  claims: ReadonlySet<string> = new Set(),
): void {
  for (const name in resources?.limits) {
    validateAmount(name, resources.limits[name], `${path}.limits[${name}]`, errors);
  }
  for (const name in resources?.requests) {
    validateAmount(name, resources.requests[name], `${path}.requests[${name}]`, errors);
    validateRequest(name, resources, path, errors);
  }
  const named = new Set<string>();
  resources?.claims?.forEach(({ name, request }, index) => {
    const field = `${path}.claims[${index}]`;
    if (!name) errors.push(required(field));
    else {
      const identity = request ? `${name}/${request}` : name;
      if (named.has(identity)) errors.push(duplicate(field, identity));
      named.add(identity);
      if (!claims.has(name)) errors.push(notFound(field, name, notAmong(claims)));
    }
  });
}

function notAmong(claims: ReadonlySet<string>): string {
  const words = 'must be one of the names in pod.spec.resourceClaims';
  return claims.size === 0 ? `${words} which is empty` : `${words}: ${[...claims].join(', ')}`;
}

const RESTARTS = ['NotRequired', 'RestartContainer'];

/** Source: validateResizePolicy. */
export function validateResizePolicy(
  policies: readonly Decoded<ContainerResizePolicy>[],
  path: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  policies.forEach(({ resourceName = '', restartPolicy = '' }, index) => {
    if (resourceName !== 'cpu' && resourceName !== 'memory')
      errors.push(notSupported(path, resourceName, ['cpu', 'memory']));
    if (!RESTARTS.includes(restartPolicy)) errors.push(notSupported(path, restartPolicy, RESTARTS));
    if (seen.has(resourceName)) errors.push(duplicate(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
  });
}

function validateAmount(
  name: string,
  amount: string | number | undefined,
  field: string,
  errors: FieldError[],
): void {
  if (!STANDARD.has(name) && !name.startsWith(HUGE_PAGES)) {
    validateSyntax(name, checkQualifiedName, field, errors);
    if (!name.includes('/')) {
      errors.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
      errors.push(invalid(field, name, 'must be a standard resource for containers'));
    }
  }
  if (nanosOf(amount) < 0n) errors.push(invalid(field, String(amount), NON_NEGATIVE));
  if (name.startsWith(HUGE_PAGES) && !isWholePages(name, amount))
    errors.push(invalid(field, String(amount), `${amount} is not positive integer multiple of ${name}`));
}

/** Huge pages are given whole, and their size is in the name. */
function isWholePages(name: string, amount: string | number | undefined): boolean {
  const size = nanosOf(name.slice(HUGE_PAGES.length));
  return size > 0n && nanosOf(amount) % size === 0n;
}

function validateRequest(
  name: string,
  resources: Decoded<ResourceRequirements>,
  path: string,
  errors: FieldError[],
): void {
  const request = ownField(resources.requests, name);
  const limit = ownField(resources.limits, name);
  const mayOvercommit = STANDARD.has(name);
  if (limit === undefined) {
    if (!mayOvercommit) {
      errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
    }
    return;
  }
  const difference = nanosOf(request) - nanosOf(limit);
  if (difference !== 0n && !mayOvercommit) {
    errors.push(invalid(`${path}.requests`, String(request), `must be equal to ${name} limit of ${limit}`));
  } else if (difference > 0n) {
    errors.push(
      invalid(`${path}.requests`, String(request), `must be less than or equal to ${name} limit of ${limit}`),
    );
  }
}
