import { NON_NEGATIVE } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid } from './field-errors.js';

/** Refuses those of the named fields that are below zero. Absent ones are fine. */
export function validateNonNegative<T extends object>(
  object: T,
  fields: readonly (keyof T & string)[],
  path: string,
  errors: FieldError[],
): void {
  for (const field of fields) {
    const value: unknown = object[field];
    if ((typeof value === 'number' || typeof value === 'bigint') && value < 0)
      errors.push(invalid(`${path}.${field}`, value, NON_NEGATIVE));
  }
}

interface Collisions {
  readonly collisionCount?: number;
}

/**
 * The count of names that were taken already must not decrease: otherwise the earlier names would be retried. Source:
 * isDecremented.
 */
export function validateCollisions(status: Collisions, old: Collisions, errors: FieldError[]): void {
  const { collisionCount: count } = status;
  if (old.collisionCount === undefined || (count !== undefined && count >= old.collisionCount)) return;
  errors.push(invalid('status.collisionCount', count ?? 0, 'cannot be decremented'));
}

const NOT_MORE_THAN_ALL = 'cannot be greater than status.replicas';

interface ReplicaCounts {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

/**
 * In the status of a workload none of `parts` may be more than all of its pods, nor may more be available than are ready. Absent
 * numbers count as zero.
 * @param notReady the words of the latter, which differ among kinds
 */
export function validateReplicaCounts<T extends ReplicaCounts>(
  status: T,
  parts: readonly (keyof T & string)[],
  errors: FieldError[],
  notReady = 'cannot be greater than readyReplicas',
): void {
  const { availableReplicas = 0, readyReplicas = 0, replicas = 0 } = status;
  for (const part of parts) {
    const found: unknown = status[part];
    const value = typeof found === 'number' ? found : 0;
    if (value > replicas) errors.push(invalid(`status.${part}`, value, NOT_MORE_THAN_ALL));
  }
  if (availableReplicas > readyReplicas)
    errors.push(invalid('status.availableReplicas', availableReplicas, notReady));
}
