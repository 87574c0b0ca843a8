import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { findCondition } from '@rollkeeper/machinery/kubernetes';

/** Condition type, and reason of the Event, of a Deployment that lost pods after its rollout and did not get them back in time. */
export const DEGRADED = 'Degraded';

/** Why a Deployment is degraded, under the policy `progress-after`; undefined if it is not. */
export function degradedBecause({ status }: Pick<DeepReadonly<Deployment>, 'status'>): string | undefined {
  const condition = findCondition(status?.conditions, DEGRADED);
  return condition?.status === 'True' ? (condition.message ?? condition.reason) : undefined;
}
