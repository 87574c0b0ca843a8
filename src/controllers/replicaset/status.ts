import { toRfc3339 } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import type {
  DeepReadonly,
  Pod,
  ReplicaSet,
  ReplicaSetCondition,
  ReplicaSetStatus,
} from '../../base/kubernetes/index.js';
import { isPodAvailable, isPodReady } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;

/** Condition type of a ReplicaSet whose pods could not be created or deleted. */
export const REPLICA_FAILURE = 'ReplicaFailure';
/** Set when a pod could not be created: quota, admission, an invalid template. */
export const FAILED_CREATE = 'FailedCreate';
/** Set when a pod could not be deleted. */
export const FAILED_DELETE = 'FailedDelete';

/** What managing the pods came to, as the status shows it. */
export interface ManageFailure {
  readonly reason: typeof FAILED_CREATE | typeof FAILED_DELETE;
  readonly error: unknown;
}

/**
 * The status that `replicaSet` should have; pure. Counts the pods that the sync found, not those it has just made
 * or deleted: these are counted when the cache shows them. A failure keeps the condition of an earlier one.
 */
export function decideStatus(input: {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly active: readonly ReadablePod[];
  readonly terminating: readonly ReadablePod[];
  readonly failure: ManageFailure | undefined;
  readonly nowMs: number;
}): ReplicaSetStatus {
  const { replicaSet, active, nowMs } = input;
  const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
  const templateLabels = Object.entries(replicaSet.spec.template?.metadata?.labels ?? {});
  const isFullyLabeled = (pod: ReadablePod): boolean =>
    templateLabels.every(([key, value]) => pod.metadata.labels?.[key] === value);
  const conditions = decideConditions(input);
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isFullyLabeled).length,
    readyReplicas: active.filter((pod) => isPodReady(pod)).length,
    availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, nowMs)).length,
    terminatingReplicas: input.terminating.length,
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}

/** Whether writing `next` over `current` would change anything that a reader can tell. */
export function isSameStatus(
  current: DeepReadonly<ReplicaSetStatus> | undefined,
  next: DeepReadonly<ReplicaSetStatus>,
): boolean {
  const counts = [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'terminatingReplicas',
    'observedGeneration',
  ] as const;
  return (
    counts.every((field) => (current?.[field] ?? 0) === (next[field] ?? 0)) &&
    sameConditions(current?.conditions ?? [], next.conditions ?? [])
  );
}

function decideConditions(input: {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly failure: ManageFailure | undefined;
  readonly nowMs: number;
}): ReplicaSetCondition[] {
  const { replicaSet, failure, nowMs } = input;
  const existing = (replicaSet.status?.conditions ?? []).map((condition) => ({ ...condition }));
  const hasFailure = existing.some(({ type }) => type === REPLICA_FAILURE);
  if (!failure) return existing.filter(({ type }) => type !== REPLICA_FAILURE);
  if (hasFailure) return existing;
  return [
    ...existing,
    {
      type: REPLICA_FAILURE,
      status: 'True',
      reason: failure.reason,
      message: errorMessage(failure.error),
      lastTransitionTime: toRfc3339(nowMs),
    },
  ];
}

function sameConditions(
  current: DeepReadonly<ReplicaSetCondition[]>,
  next: DeepReadonly<ReplicaSetCondition[]>,
): boolean {
  return (
    current.length === next.length &&
    current.every((condition, index) => {
      const other = next[index];
      return (
        condition.type === other?.type &&
        condition.status === other.status &&
        condition.reason === other.reason &&
        condition.message === other.message
      );
    })
  );
}
