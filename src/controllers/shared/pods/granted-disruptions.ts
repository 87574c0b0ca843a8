import { findCondition, ownField, transitionTime, asSent } from '@rollkeeper/machinery/kubernetes';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { PodDisruptionBudget } from '@rollkeeper/runtime';
import { parseTimeMs } from './pod-readiness.js';

type Budget = DeepReadonly<PodDisruptionBudget>;

/** A granted disruption that has no effect expires after this time, as in Kubernetes' disruption controller. */
const EXPIRES_AFTER_MS = 120_000;

const ALLOWED = 'DisruptionAllowed';

/** Whether a budget already counts a pod as deleted, because its disruption was granted, by an eviction or by a rollout. */
export function granted({ status }: Budget, podName: string, nowMs: number): boolean {
  const atMs = parseTimeMs(ownField(status?.disruptedPods ?? {}, podName));
  return atMs !== undefined && atMs + EXPIRES_AFTER_MS > nowMs;
}

/**
 * The budget with these pods granted, as an eviction does it (`checkAndDecrement` in k/k
 * pkg/registry/core/pod/storage/eviction.go). It is written with the resourceVersion that was read, so two concurrent writers
 * never take the same disruption.
 */
export function withGranted(budget: Budget, podNames: readonly string[], nowMs: number): PodDisruptionBudget {
  const { disruptedPods, disruptionsAllowed = 0, ...status } = budget.status ?? {};
  const now = toRfc3339(nowMs);
  const left = Math.max(0, disruptionsAllowed - podNames.length);
  return asSent<PodDisruptionBudget>({
    ...budget,
    status: {
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      ...status,
      ...(left === 0 && { conditions: usedUp(budget, now) }),
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, ...Object.fromEntries(podNames.map((name) => [name, now])) },
    },
  });
}

function usedUp({ metadata, status }: Budget, now: string) {
  const conditions = status?.conditions ?? [];
  const before = findCondition(conditions, ALLOWED);
  const condition = {
    type: ALLOWED,
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: metadata.generation,
    lastTransitionTime: transitionTime(before, 'False', now),
  };
  return [...conditions.filter(({ type }) => type !== ALLOWED), condition];
}
