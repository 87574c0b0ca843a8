import {
  findCondition,
  cloneJson,
  compileLabelSelector,
  isPodReady,
  transitionTime,
} from '@rollkeeper/machinery/kubernetes';
import type { PodDisruptionBudget } from '@rollkeeper/machinery/types/policy-v1';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Pod, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { evictionRefused, forbidden } from '../../schema/errors/index.js';

export type DisruptionBudget = PodDisruptionBudget & UnstructuredObject;
type ReadableBudget = DeepReadonly<DisruptionBudget>;
type ReadablePod = DeepReadonly<Pod>;

/** Limit of the evictions under way that the disruption controller has not seen. */
const MAX_UNCONFIRMED = 2000;
const SUBJECT = { group: 'policy', resource: 'poddisruptionbudget' };

/** The budgets that speak for a pod: one with an empty selector speaks for every pod of its namespace. */
export function budgetsOf<Budget extends ReadableBudget>(
  pod: ReadablePod,
  budgets: readonly Budget[],
): Budget[] {
  return budgets.filter(({ spec }) => compileLabelSelector(spec?.selector)(pod.metadata.labels));
}

/**
 * `free`: no budget has a say. `unready`: the pod counts for nothing, as long as it stays as it is. `counted`: the budget must
 * allow one more.
 */
type EvictionRule = 'free' | 'unready' | 'counted';

/**
 * By which rule a pod may be evicted.
 * Source: `EvictionREST.Create` in k/k pkg/registry/core/pod/storage/eviction.go.
 */
export function decideEvictionRule(pod: ReadablePod, budget: ReadableBudget | undefined): EvictionRule {
  if (pod.status?.phase !== 'Running' || pod.metadata.deletionTimestamp !== undefined || !budget)
    return 'free';
  if (isPodReady(pod)) return 'counted';
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return 'unready';
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0 ? 'unready' : 'counted';
}

/**
 * The budget with one eviction less in it.
 * @throws StatusError 429 where it allows none at the moment, 403
 */
export function takeFromBudget(budget: ReadableBudget, podName: string, nowMs: number): DisruptionBudget {
  const { generation = 0, name } = budget.metadata;
  const {
    conditions = [],
    currentHealthy = 0,
    desiredHealthy = 0,
    disruptedPods = {},
    disruptionsAllowed = 0,
    observedGeneration = 0,
  } = budget.status ?? {};
  if (observedGeneration < generation) throw budgetIsNew(name);
  if (disruptionsAllowed < 0) throw forbidden(SUBJECT, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_UNCONFIRMED)
    throw forbidden(
      SUBJECT,
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
  if (disruptionsAllowed === 0) {
    const failed = conditions.find(({ reason, type }) => type === ALLOWED && reason === 'SyncFailed');
    throw evictionRefused(
      failed
        ? `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${failed.message}`
        : `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  const taken = cloneJson(budget as DisruptionBudget);
  const now = toRfc3339(nowMs);
  taken.status = {
    ...taken.status,
    currentHealthy,
    desiredHealthy,
    expectedPods: budget.status?.expectedPods ?? 0,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [podName]: now },
  };
  if (disruptionsAllowed === 1) taken.status.conditions = usedUp(taken, now);
  return taken;
}

/** The budget's status does not speak of its spec yet. @returns StatusError 429 */
export function budgetIsNew(name: string): Error {
  return evictionRefused(`The disruption budget ${name} is still being processed by the server.`, 10);
}

const ALLOWED = 'DisruptionAllowed';

function usedUp({ metadata, status }: DisruptionBudget, now: string) {
  const conditions = status?.conditions ?? [];
  const before = findCondition(conditions, ALLOWED);
  const condition = {
    type: ALLOWED,
    status: 'False' as const,
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: metadata.generation,
    lastTransitionTime: transitionTime(before, 'False', now),
  };
  return [...conditions.filter(({ type }) => type !== ALLOWED), condition];
}
