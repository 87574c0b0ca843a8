import { NON_NEGATIVE, checkQualifiedName, nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { Amount } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid } from './field-errors.js';
import { validateSyntax } from './words.js';

/** Names of resources that are counted, in the words of pkg/apis/core/validation/validation.go. */

const OF_CONTAINERS = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Objects that a quota counts without a prefix. */
const OBJECT_COUNTS = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const OF_QUOTAS = new Set([
  ...OF_CONTAINERS,
  ...OBJECT_COUNTS,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

const STANDARD = new Set([...OF_QUOTAS, 'storage']);

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-') || name.startsWith('requests.hugepages-');
}

/** Whether a count can only be whole. */
export function isIntegerResource(name: string): boolean {
  return OBJECT_COUNTS.has(name) || name.startsWith('count/');
}

/** Source: ValidateResourceQuantityValue. */
export function validateResourceAmount(
  name: string,
  amount: Amount | undefined,
  field: string,
  errors: FieldError[],
): void {
  const nanos = nanosOf(amount);
  if (nanos < 0n) errors.push(invalid(field, String(amount), NON_NEGATIVE));
  if (isIntegerResource(name) && nanos % 1_000_000_000n !== 0n)
    errors.push(invalid(field, String(amount), 'must be an integer'));
}

/** Whether a quota knows what it counts by that name. */
export function isQuotaResource(name: string): boolean {
  return OF_QUOTAS.has(name);
}

/** A standard name, or one with a domain before it. Source: validateResourceName. */
export function validateQualifiedResourceName(name: string, field: string, errors: FieldError[]): void {
  validateSyntax(name, checkQualifiedName, field, errors);
  if (!name.includes('/') && !STANDARD.has(name) && !isHugePages(name))
    errors.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
}

/** Source: validateContainerResourceName. */
export function validateContainerResourceName(name: string, field: string, errors: FieldError[]): void {
  validateQualifiedResourceName(name, field, errors);
  if (!name.includes('/') && !OF_CONTAINERS.has(name) && !isHugePages(name))
    errors.push(invalid(field, name, 'must be a standard resource for containers'));
}

/** Source: ValidateResourceQuotaResourceName. */
export function validateQuotaResourceName(name: string, field: string, errors: FieldError[]): void {
  validateQualifiedResourceName(name, field, errors);
  if (!name.includes('/') && !OF_QUOTAS.has(name) && !isHugePages(name))
    errors.push(invalid(field, name, 'must be a standard resource for quota'));
}
