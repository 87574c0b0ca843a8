import type { DeepReadonly, Pod } from '../../base/kubernetes/index.js';
import { isPodReady } from '../../base/kubernetes/index.js';
import { setCondition } from '../../kit/index.js';
import type { PodDisruptionBudget } from '../shared/index.js';
import { parseTimeMs, scaledValue } from '../shared/index.js';

type Budget = DeepReadonly<PodDisruptionBudget>;
type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

/** An eviction that was granted so long ago, and of which nothing followed, is over. */
const DELETION_TIMEOUT_MS = 120_000;

export interface DecidedStatus {
  readonly status: BudgetStatus;
  /** When to look again, milliseconds; absent: when something changes. */
  readonly recheckMs?: number;
}

/** What a budget counts, beside the pods that it selects. */
export interface BudgetCount {
  /** Pods that there should be. */
  readonly expected: number;
  readonly desiredHealthy: number;
}

/** Whether the pods' controllers have to be asked how many they want. */
export function needsScale({ spec }: Budget): boolean {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return maxUnavailable !== undefined || typeof minAvailable === 'string';
}

/**
 * @param pods how many there are
 * @param scale what their controllers want, where {@link needsScale}
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
 * How many pods of a budget may go now. Evictions that were granted count as gone until the pod is, or two minutes are over.
 * Source: `trySync` in k/k pkg/controller/disruption.
 */
export function decideStatus(
  budget: Budget,
  pods: readonly DeepReadonly<Pod>[],
  { desiredHealthy, expected }: BudgetCount,
  nowMs: number,
): DecidedStatus {
  const granted = budget.status?.disruptedPods ?? {};
  const endOf = (time: string): number => (parseTimeMs(time) ?? 0) + DELETION_TIMEOUT_MS;
  const disrupted = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(({ metadata: { name } }) => {
      const time = granted[name];
      return time !== undefined && endOf(time) > nowMs ? [[name, time] as const] : [];
    });
  const names = new Set(disrupted.map(([name]) => name));
  const currentHealthy = pods.filter(
    (pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined && !names.has(pod.metadata.name),
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
    ...(disrupted.length > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    disruptionsAllowed,
    expectedPods: expected,
    observedGeneration: budget.metadata.generation,
  };
  if (disrupted.length === 0) return { status };
  const recheckMs = Math.max(1000, Math.min(...disrupted.map(([, time]) => endOf(time))) - nowMs);
  return { status, recheckMs };
}

/** Nothing may go while we do not know how many there should be. */
export function failedStatus(budget: Budget, message: string, nowMs: number): BudgetStatus {
  const { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0, ...before } = budget.status ?? {};
  return {
    ...(before as Partial<BudgetStatus>),
    ...{ currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: 0 },
    conditions: conditionsOf(budget, 'SyncFailed', message, nowMs),
  };
}

type Reason = 'SufficientPods' | 'InsufficientPods' | 'SyncFailed';

function conditionsOf({ metadata, status }: Budget, reason: Reason, message: string, nowMs: number) {
  const condition = {
    type: 'DisruptionAllowed',
    status: reason === 'SufficientPods' ? ('True' as const) : ('False' as const),
    reason,
    message,
    observedGeneration: Number(metadata.generation ?? 0),
  };
  return setCondition(status?.conditions as Parameters<typeof setCondition>[0], condition, {
    now: () => nowMs,
  });
}
