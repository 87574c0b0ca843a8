import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type {
  DeepReadonly,
  Pod,
  ReplicaSet,
  ReplicaSetCondition,
  ReplicaSetStatus,
} from '@rollkeeper/machinery/kubernetes';
import { findCondition, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { FAILED_CREATE, FAILED_DELETE } from '../shared/index.js';
import { POD_FAILURE_BACK_OFF, isPodAvailable, msUntilPodAvailable } from '../shared/index.js';
import { describeFailures } from './describe-failures.js';
import type { FailureSeries } from './failure-series.js';

type ReadablePod = DeepReadonly<Pod>;

/** Condition type of a ReplicaSet whose pods could not be created or deleted. */
const REPLICA_FAILURE = 'ReplicaFailure';

/** A failure of managing the pods, as shown in the status. */
export interface ManageFailure {
  readonly reason: typeof FAILED_CREATE | typeof FAILED_DELETE;
  readonly error: unknown;
}

/** The quota may not have been the first obstacle: its message is that of the first failure. */
export function hasReplicaFailure({ status }: DeepReadonly<ReplicaSet>): boolean {
  return status?.conditions?.some((each) => each.type === REPLICA_FAILURE && each.status === 'True') ?? false;
}

interface StatusInput {
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  readonly active: readonly ReadablePod[];
  /** Absent if the server does not keep their number. */
  readonly terminating: readonly ReadablePod[] | undefined;
  readonly failure: ManageFailure | undefined;
  /** Pods that die before they are ready. @default none do */
  readonly failures?: FailureSeries;
  readonly nowMs: number;
}

/**
 * The new status of `replicaSet`; pure. Counts the pods that the sync found, not those it has just created or deleted:
 * these are counted when the cache shows them. A failure keeps the condition of an earlier one.
 */
export function decideStatus(input: StatusInput): ReplicaSetStatus {
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
    ...(input.terminating && { terminatingReplicas: input.terminating.length }),
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}

/**
 * Whether writing `next` over `current` would make no visible change. A missing number of terminating pods differs from
 * 0: without it, as a controller before Kubernetes 1.33 leaves it, the Deployment cannot report one either.
 */
export function isSameStatus(
  current: DeepReadonly<ReplicaSetStatus> | undefined,
  next: DeepReadonly<ReplicaSetStatus>,
): boolean {
  const counts = [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
  ] as const;
  return (
    counts.every((field) => (current?.[field] ?? 0) === (next[field] ?? 0)) &&
    current?.terminatingReplicas === next.terminatingReplicas &&
    sameConditions(current?.conditions ?? [], next.conditions ?? [])
  );
}

/** The consequences of the current pods, besides their number. */
export interface FollowUp {
  /** Absent: unchanged. */
  readonly status?: ReplicaSetStatus;
  /** Delay until the next ready pod becomes available, unless something happens before. */
  readonly nextAvailableInMs?: number;
}

/** One instant for both: a pod that the status does not count as available yet must wake us. */
export function decideFollowUp(input: StatusInput): FollowUp {
  const { active, nowMs, replicaSet } = input;
  const status = decideStatus(input);
  return {
    status: isSameStatus(replicaSet.status, status) ? undefined : status,
    nextAvailableInMs: msUntilNextAvailable(replicaSet, active, nowMs),
  };
}

/** Delay until the next ready pod has been ready for `minReadySeconds`: no event of the API reports that. */
function msUntilNextAvailable(
  replicaSet: DeepReadonly<ReplicaSet>,
  active: readonly DeepReadonly<Pod>[],
  nowMs: number,
): number | undefined {
  const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
  if (minReadySeconds === 0) return undefined;
  const waits = active
    .map((pod) => msUntilPodAvailable(pod, minReadySeconds, nowMs))
    .filter((wait): wait is number => wait !== undefined && wait > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

function decideConditions(input: StatusInput): ReplicaSetCondition[] {
  const existing = (input.replicaSet.status?.conditions ?? []).map((condition) => ({ ...condition }));
  const next = new Map<string, ReplicaSetCondition | undefined>([
    [REPLICA_FAILURE, replicaFailure(input, findCondition(existing, REPLICA_FAILURE))],
    [POD_FAILURE_BACK_OFF, podFailures(input, findCondition(existing, POD_FAILURE_BACK_OFF))],
  ]);
  const kept = existing.map((condition) => (next.has(condition.type) ? next.get(condition.type) : condition));
  const added = [...next.values()].filter(
    (condition) => !existing.some(({ type }) => type === condition?.type),
  );
  return [...kept, ...added].filter((condition) => condition !== undefined);
}

function replicaFailure(
  { failure, nowMs }: StatusInput,
  before: ReplicaSetCondition | undefined,
): ReplicaSetCondition | undefined {
  if (!failure) return undefined;
  return (
    before ?? {
      type: REPLICA_FAILURE,
      status: 'True',
      reason: failure.reason,
      message: errorMessage(failure.error),
      lastTransitionTime: toRfc3339(nowMs),
    }
  );
}

/** Until all wanted pods are ready: one that died long ago is no news then. */
function podFailures(
  { active, failures, nowMs, replicaSet }: StatusInput,
  before: ReplicaSetCondition | undefined,
): ReplicaSetCondition | undefined {
  const readyPods = active.filter((pod) => isPodReady(pod)).length;
  if (!failures || readyPods >= (replicaSet.spec.replicas ?? 1)) return undefined;
  return {
    type: POD_FAILURE_BACK_OFF,
    status: 'True',
    reason: failures.reason,
    message: describeFailures(failures),
    lastTransitionTime: before?.lastTransitionTime ?? toRfc3339(nowMs),
  };
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
