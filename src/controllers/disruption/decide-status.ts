import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodReady, ownField } from '@rollkeeper/machinery/kubernetes';
import { setCondition } from '@rollkeeper/runtime';
import type { PodDisruptionBudget } from '@rollkeeper/runtime';
import { parseTimeMs, scaledValue } from '../shared/index.js';

type Budget = DeepReadonly<PodDisruptionBudget>;
type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

/** A granted eviction without effect expires after this time. */
const DELETION_TIMEOUT_MS = 120_000;

interface DecidedStatus {
  readonly status: BudgetStatus;
  /** When to look again, milliseconds; absent: when something changes. */
  readonly recheckMs?: number;
  /** Pods whose eviction was granted, but that still exist after the timeout. */
  readonly overdue: readonly DeepReadonly<Pod>[];
}

/** The counts of a budget, beside its selected pods. */
interface BudgetCount {
  /** Expected number of pods. */
  readonly expected: number;
  readonly desiredHealthy: number;
}

/** Whether the desired scale of the pods' controllers is needed. */
export function needsScale({ spec }: Budget): boolean {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return maxUnavailable !== undefined || typeof minAvailable === 'string';
}

/**
 * @param pods their number
 * @param scale of their controllers, if {@link needsScale}
 */
export function countBudget({ spec }: Budget, pods: number, scale: number): BudgetCount {
  const { maxUnavailable, minAvailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const gone = scaledValue(maxUnavailable, scale, Math.ceil);
    return { expected: scale, desiredHealthy: Math.max(0, scale - gone) };
  }
  if (typeof minAvailable === 'string')
    return { expected: scale, desiredHealthy: scaledValue(minAvailable, scale, Math.ceil) };
  return { expected: minAvailable === undefined ? 0 : pods, desiredHealthy: minAvailable ?? 0 };
}

/**
 * How many pods of a budget may be evicted now. A pod with a granted eviction already counts as deleted, for two minutes at
 * most. Source: `trySync` in k/k pkg/controller/disruption.
 */
export function decideStatus(
  budget: Budget,
  pods: readonly DeepReadonly<Pod>[],
  { desiredHealthy, expected }: BudgetCount,
  nowMs: number,
): DecidedStatus {
  const granted = grantedPods(budget, pods);
  const waiting = granted.filter(({ endMs }) => endMs >= nowMs);
  // At exactly the end of its time a pod is awaited once more, and counts again.
  const gone = new Set(waiting.filter(({ endMs }) => endMs > nowMs).map(({ pod }) => pod));
  const currentHealthy = pods.filter(
    (pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined && !gone.has(pod),
  ).length;
  const disruptionsAllowed = expected > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const status: BudgetStatus = {
    conditions: conditionsOf(
      budget,
      disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      '',
      nowMs,
    ),
    currentHealthy,
    desiredHealthy,
    ...(waiting.length > 0 && {
      disruptedPods: Object.fromEntries(waiting.map(({ pod, time }) => [pod.metadata.name, time])),
    }),
    disruptionsAllowed,
    expectedPods: expected,
    observedGeneration: budget.metadata.generation,
  };
  const overdue = granted.filter(({ endMs }) => endMs < nowMs).map(({ pod }) => pod);
  if (waiting.length === 0) return { status, overdue };
  const recheckMs = Math.max(1, Math.min(...waiting.map(({ endMs }) => endMs)) - nowMs);
  return { status, overdue, recheckMs };
}

interface GrantedPod {
  readonly pod: DeepReadonly<Pod>;
  /** When the eviction was granted, and the deadline for the deletion of the pod. */
  readonly time: string;
  readonly endMs: number;
}

/** Pods with a granted eviction that is not visible yet. */
function grantedPods({ status }: Budget, pods: readonly DeepReadonly<Pod>[]): readonly GrantedPod[] {
  const times = status?.disruptedPods ?? {};
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((pod) => {
      const time = ownField(times, pod.metadata.name);
      if (time === undefined) return [];
      return [{ pod, time, endMs: (parseTimeMs(time) ?? 0) + DELETION_TIMEOUT_MS }];
    });
}

/** No evictions are allowed while the expected number is unknown. */
export function failedStatus(budget: Budget, message: string, nowMs: number): BudgetStatus {
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, ...before } = budget.status ?? {};
  return {
    ...before,
    ...{ currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: 0 },
    conditions: conditionsOf(budget, 'SyncFailed', message, nowMs),
  };
}

type Reason = 'SufficientPods' | 'InsufficientPods' | 'SyncFailed';

function conditionsOf({ metadata, status }: Budget, reason: Reason, message: string, nowMs: number) {
  // A failed sync counted nothing, so the condition keeps its generation.
  const generation = reason === 'SyncFailed' ? status?.observedGeneration : metadata.generation;
  const condition = {
    type: 'DisruptionAllowed',
    status: reason === 'SufficientPods' ? ('True' as const) : ('False' as const),
    reason,
    message,
    ...(generation !== undefined && { observedGeneration: Number(generation) }),
  };
  return setCondition(status?.conditions as Parameters<typeof setCondition>[0], condition, {
    now: () => nowMs,
  });
}
