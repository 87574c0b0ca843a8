import type { RolloutHealth } from '@rollkeeper/controllers/deployment';
import {
  POLICY_REASONS,
  ROLLOUT_HEALTH,
  degradedBecause,
  readDrift,
  policyReasonOf,
  rolloutHealth,
  stateOfStatus,
} from '@rollkeeper/controllers/deployment';
import { failureBackOffOf } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';

/** Counts Deployments by health; each word has a count. */
export function countRolloutHealth(
  deployments: Iterable<DeepReadonly<Deployment>>,
  nowMs: number,
): ReadonlyMap<RolloutHealth, number> {
  const counts = new Map<RolloutHealth, number>(ROLLOUT_HEALTH.map((health) => [health, 0]));
  for (const deployment of deployments) {
    const health = rolloutHealth(stateOfStatus(deployment, nowMs), deployment);
    counts.set(health, (counts.get(health) ?? 0) + 1);
  }
  return counts;
}

/** Counts the Deployments whose policies hold a rollout, went back, or cannot be followed, by the reason; each reason has a count. */
export function countPolicyReasons(
  deployments: Iterable<DeepReadonly<Deployment>>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(POLICY_REASONS.map((reason) => [reason, 0]));
  for (const deployment of deployments) {
    const reason = policyReasonOf(deployment);
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

/** Counts the Deployments that did not get back in time the pods that they lost. */
export function countDegraded(deployments: Iterable<DeepReadonly<Deployment>>): number {
  let degraded = 0;
  for (const deployment of deployments) if (degradedBecause(deployment) !== undefined) degraded += 1;
  return degraded;
}

/** Counts the Deployments with pods that differ from what admission gives new ones. */
export function countDrifted(deployments: Iterable<DeepReadonly<Deployment>>): number {
  let drifted = 0;
  for (const { metadata } of deployments) if (readDrift(metadata.annotations) !== undefined) drifted += 1;
  return drifted;
}

/** Counts the ReplicaSets whose pods die before they are ready. */
export function countFailing(replicaSets: Iterable<DeepReadonly<ReplicaSet>>): number {
  let failing = 0;
  for (const { status } of replicaSets) if (failureBackOffOf(status) !== undefined) failing += 1;
  return failing;
}
