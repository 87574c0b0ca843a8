import { readRevision } from '@rollkeeper/controllers/deployment';
import { exactInteger } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { ReplicaSetArithmetic } from './explanation.js';
import type { ReplicaSetFacts, RolloutFacts } from './rollout-facts.js';
import { sum } from './rollout-facts.js';

/** Explains the size of each ReplicaSet with the controller's own arithmetic. New first, then old, youngest first. */
export function explainSizes(facts: RolloutFacts, paused: boolean): ReplicaSetArithmetic[] {
  const ordered = [...(facts.latest ? [facts.latest] : []), ...facts.old.toReversed()];
  return ordered.map((set) => ({
    name: set.name,
    role: set.role,
    revision: revisionOf(set),
    images: (set.draft.template.spec?.containers ?? []).map(({ image = '' }) => image),
    size: set.size,
    nextSize: set.nextSize,
    pods: set.pods.length,
    ready: set.ready,
    available: set.available,
    because: paused ? ['the rollout is paused, so its size does not change'] : sumsOf(set, facts),
  }));
}

function sumsOf(set: ReplicaSetFacts, facts: RolloutFacts): string[] {
  const sums = set.role === 'new' ? sumsOfNew(set, facts) : sumsOfOld(set, facts);
  if (set.nextSize === set.size) return sums;
  return [...sums, `the next sync scales it to ${set.nextSize}`];
}

function sumsOfNew(set: ReplicaSetFacts, { limits, replicaSets, rolling, standing }: RolloutFacts): string[] {
  const { ceiling, maxSurge, replicas } = limits;
  if (set.size === replicas) return [`all ${replicas} that the Deployment requests`];
  if (!rolling) return [`Recreate: 0 until the last old pod has ended, then ${replicas} at once`];
  if (set.size > replicas && standing?.code === 'waits-for-replacement')
    return [
      `all ${replicas} that the Deployment requests, and ${set.size - replicas} in place of pods that wait for their eviction`,
    ];
  if (set.size > replicas)
    return [`${set.size}, more than the ${replicas} requested: it is scaled down at once`];
  const asked = sum(replicaSets, ({ size }) => size);
  const room = Math.max(0, ceiling - asked);
  return [
    `ceiling: ${replicas} + maxSurge ${maxSurge} = ${ceiling}`,
    `room to grow: ${ceiling} - ${asked} requested in total = ${room}`,
  ];
}

function sumsOfOld(set: ReplicaSetFacts, { limits, latest, replicaSets, rolling }: RolloutFacts): string[] {
  if (set.size === 0) return ['kept at 0 for a rollback'];
  if (!rolling) return ['Recreate: all old pods end before a new one starts'];
  const { floor, maxUnavailable, replicas } = limits;
  const asked = sum(replicaSets, ({ size }) => size);
  const missing = latest ? Math.max(0, latest.size - latest.available) : 0;
  const room = asked - floor - missing;
  return [
    `floor: ${replicas} - maxUnavailable ${maxUnavailable} = ${floor} available`,
    `room to shrink: ${asked} requested in total - floor ${floor} - ${missing} new ones not available = ${Math.max(0, room)}`,
  ];
}

function revisionOf({ draft }: ReplicaSetFacts): Int64 | undefined {
  const revision = readRevision(draft.observed?.metadata.annotations) ?? 0n;
  return revision > 0n ? exactInteger(revision) : undefined;
}
