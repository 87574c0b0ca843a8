import { DESIRED_REPLICAS, MAX_REPLICAS, integerAnnotation } from './annotations.js';
import { lastingAvailable, activeOf, byCreation, totalReplicas } from './draft.js';
import type { ReplicaSetDraft, RolloutDraft, RolloutSets } from './draft.js';
import { int32Arithmetic } from './int32.js';
import { isRollingUpdate, maxTotalReplicas } from './limits.js';
import type { RolloutRules } from './deployment.options.js';

/** Whether `spec.replicas` changed since a ReplicaSet was last sized. */
export function isScalingEvent(draft: RolloutDraft, { all }: RolloutSets): boolean {
  return activeOf(all).some((replicaSet) => {
    const desired = integerAnnotation(replicaSet.annotations, DESIRED_REPLICAS);
    return desired !== undefined && desired !== draft.replicas;
  });
}

/**
 * Follows a change of `spec.replicas` without moving the rollout: one active ReplicaSet takes all of it; when the
 * new one is complete the old ones go; otherwise all grow or shrink in proportion, which spreads the risk.
 * (Behaviour of `scale` in Kubernetes' `pkg/controller/deployment/sync.go`.)
 */
export function scaleToSpec(draft: RolloutDraft, sets: RolloutSets, rules: RolloutRules): void {
  const { latest, old, all } = sets;
  const active = activeOf(all);
  if (active.length <= 1) {
    const only = active[0] ?? latest ?? old.at(-1);
    if (only && only.replicas !== draft.replicas) draft.scale(only, draft.replicas);
  } else if (latest && isSaturated(draft, latest, rules)) {
    for (const replicaSet of activeOf(old).reverse()) draft.scale(replicaSet, 0);
  } else if (isRollingUpdate(draft.spec)) {
    scaleInProportion(draft, active, rules);
  }
}

/** Ends a scaling event: whoever kept its size has the new total noted too, or the event would never be over. */
export function noteNewTotal(draft: RolloutDraft, { all }: RolloutSets): void {
  for (const replicaSet of activeOf(all)) draft.scale(replicaSet, replicaSet.replicas);
}

/** The new ReplicaSet is as large as asked for, and all of it is available. */
function isSaturated(draft: RolloutDraft, latest: ReplicaSetDraft, rules: RolloutRules): boolean {
  return (
    latest.replicas === draft.replicas &&
    integerAnnotation(latest.annotations, DESIRED_REPLICAS) === draft.replicas &&
    lastingAvailable(latest, rules) === draft.replicas
  );
}

/**
 * Shares out what the new total allows. The largest comes first, and takes what rounding leaves over; of equals the
 * newest grows first and the oldest shrinks first.
 *
 * 5 → 10 in the middle of a rollout, surge 2 → 3 (7 → 13 in all), sizes 4 and 3: shares 3.4 and 2.6, so 7 and 6.
 */
function scaleInProportion(
  draft: RolloutDraft,
  active: readonly ReplicaSetDraft[],
  rules: RolloutRules,
): void {
  const allowed = draft.replicas > 0 ? wholeOf(draft.replicas, maxTotalReplicas(draft.spec), rules) : 0;
  const toAdd = allowed - totalReplicas(active);
  const ordered = [...active].sort((a, b) => b.replicas - a.replicas || tieBreak(toAdd, a, b));
  const sizes = new Map(ordered.map((replicaSet) => [replicaSet, replicaSet.replicas]));
  const { sum } = int32Arithmetic(rules);
  let added = 0;
  for (const replicaSet of toAdd === 0 ? [] : ordered) {
    const share = proportion(draft, replicaSet, { toAdd, added }, rules);
    sizes.set(replicaSet, sum(replicaSet.replicas + share));
    added = sum(added + share);
  }
  const [largest] = ordered;
  if (largest && toAdd !== 0) {
    const size = sum((sizes.get(largest) ?? 0) + sum(toAdd - added));
    sizes.set(largest, Math.max(0, size));
  }
  // Those that keep their size still get the new total noted.
  for (const replicaSet of ordered) draft.scale(replicaSet, sizes.get(replicaSet) ?? replicaSet.replicas);
}

/**
 * What is shared out. A surge of more than 100 % only makes more room than a rollout can use, since the new ReplicaSet never
 * gets more than `replicas`; Kubernetes fills it all the same, so that a `maxSurge` of a million becomes a million pods for
 * whoever scales in the middle of a rollout.
 */
function wholeOf(replicas: number, maxReplicas: number, { asKubernetes120 }: RolloutRules): number {
  return asKubernetes120 ? maxReplicas : Math.min(maxReplicas, 2 * replicas);
}

function notedWhole({ annotations }: ReplicaSetDraft, rules: RolloutRules): number | undefined {
  const whole = integerAnnotation(annotations, MAX_REPLICAS);
  const replicas = integerAnnotation(annotations, DESIRED_REPLICAS);
  return whole === undefined || replicas === undefined ? whole : wholeOf(replicas, whole, rules);
}

function tieBreak(toAdd: number, a: ReplicaSetDraft, b: ReplicaSetDraft): number {
  return toAdd > 0 ? byCreation(b, a) : toAdd < 0 ? byCreation(a, b) : 0;
}

/** How much of what is left to add (or, negative, to take away) falls to this ReplicaSet. */
function proportion(
  draft: RolloutDraft,
  replicaSet: ReplicaSetDraft,
  { toAdd, added }: { toAdd: number; added: number },
  rules: RolloutRules,
): number {
  if (toAdd === added) return 0;
  const left = int32Arithmetic(rules).sum(toAdd - added);
  const fair = fairShare(draft, replicaSet, rules);
  if (toAdd > 0) return Math.min(fair, left);
  // Annotations that somebody else wrote must not let one grow beyond the limit while all have to shrink.
  return Math.max(rules.asKubernetes120 ? fair : Math.min(fair, 0), left);
}

function fairShare(draft: RolloutDraft, replicaSet: ReplicaSetDraft, rules: RolloutRules): number {
  if (draft.replicas === 0) return -replicaSet.replicas;
  const whole = wholeOf(draft.replicas, maxTotalReplicas(draft.spec), rules);
  const wholeBefore = notedWhole(replicaSet, rules) ?? draft.status.replicas ?? 0;
  // Below 0: a sum that wrapped around, noted by Kubernetes' controller.
  if (wholeBefore <= 0 && !rules.asKubernetes120) return 0;
  const { round, sum } = int32Arithmetic(rules);
  return sum(round((replicaSet.replicas * whole) / wholeBefore) - replicaSet.replicas);
}
