import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ContainerResizePolicy, ResourceRequirements } from '@rollkeeper/machinery/types/core-v1';
import { isOneOf, nanosOf, ownField } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import {
  duplicate,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '../validation/field-errors.js';
import { validateContainerResourceName, validateResourceAmount } from '../validation/resource-names.js';

const HUGE_PAGES = 'hugepages-';

/** Whether a resource may be named there, and what is said if not. */
type NameRule = (name: string, field: string, errors: FieldError[]) => void;

interface ResourceRules {
  /** The claims of the pod. @default none */
  readonly claims?: ReadonlySet<string>;
  /** @default what a container may have */
  readonly validateName?: NameRule;
}

/** Source: validateResourceRequirements in pkg/apis/core/validation/validation.go. */
export function validateResources(
  resources: Decoded<ResourceRequirements> | undefined,
  path: string,
  errors: FieldError[],
  { claims = new Set(), validateName = validateContainerResourceName }: ResourceRules = {},
): void {
  if (!resources) return;
  const { limits = {}, requests = {} } = resources;
  for (const [name, limit] of Object.entries(limits)) {
    const field = `${path}.limits[${name}]`;
    validateName(name, field, errors);
    validateResourceAmount(name, limit, field, errors);
    validatePages(name, limit, field, errors);
  }
  for (const [name, request] of Object.entries(requests)) {
    const field = `${path}.requests[${name}]`;
    validateName(name, field, errors);
    validateResourceAmount(name, request, field, errors);
    validateRequest(name, resources, path, errors);
    validatePages(name, request, field, errors);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isPages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  validateClaims(resources.claims, claims, `${path}.claims`, errors);
}

function validateClaims(
  used: Decoded<ResourceRequirements>['claims'],
  claims: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  const named = new Set<string>();
  used?.forEach(({ name, request }, index) => {
    const field = `${path}[${index}]`;
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
    if (seen.has(resourceName)) errors.push(duplicate(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
    for (const [word, words] of [
      [resourceName, ['cpu', 'memory']],
      [restartPolicy, RESTARTS],
    ] as const)
      if (word === '') errors.push(required(path));
      else if (!isOneOf(word, words)) errors.push(notSupported(path, word, words));
  });
}

function isPages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

function validatePages(
  name: string,
  amount: string | number | undefined,
  field: string,
  errors: FieldError[],
): void {
  if (isPages(name) && !isWholePages(name, amount))
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
  // Resources that Kubernetes counts itself may be overcommitted, except for huge pages.
  const mayOvercommit = (!name.includes('/') || name.includes('kubernetes.io/')) && !isPages(name);
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
