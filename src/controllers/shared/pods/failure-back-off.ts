import type { DeepReadonly, ReplicaSetStatus } from '@rollkeeper/machinery/kubernetes';
import { findCondition } from '@rollkeeper/machinery/kubernetes';

/** Condition type, and reason of the Event, of a ReplicaSet whose pods die before they are ready. */
export const POD_FAILURE_BACK_OFF = 'PodFailureBackOff';

/** The message of the condition, while pods of a ReplicaSet die before they are ready. */
export function failureBackOffOf(
  status: Pick<DeepReadonly<ReplicaSetStatus>, 'conditions'> | undefined,
): string | undefined {
  const condition = findCondition(status?.conditions, POD_FAILURE_BACK_OFF);
  return condition?.status === 'True' ? (condition.message ?? condition.reason) : undefined;
}
