import { DESIRED_REPLICAS, MAX_REPLICAS, sizeAnnotation } from './annotations.js';
import { lastingAvailable, activeOf, byCreation, totalReplicas } from './replica-set-draft.js';
import type { RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { int32Arithmetic } from './int32.js';
import { isRollingUpdate, maxTotalReplicas, minAvailable } from './limits.js';
import type { RolloutRules } from './rollout-rules.js';
import { isHeld, scaleBeside } from './held-sizes.js';
import { keepFloor } from './unavailable-first.js';

/** Whether `spec.replicas` changed since a ReplicaSet was last sized. */
export function isScalingEvent(draft: RolloutDraft, { all }: RolloutSets): boolean {
  return hasNewSize(draft, activeOf(all));
}

function hasNewSize(draft: RolloutDraft, active: readonly ReplicaSetDraft[]): boolean {
  return active.some((replicaSet) => {
    const desired = sizeAnnotation(replicaSet.annotations, DESIRED_REPLICAS);
    return desired !== undefined && desired !== draft.replicas;
  });
}

/**
 * Follows a change of `spec.replicas` without advancing the rollout: a single active ReplicaSet takes all of it; if the
 * new one is complete the old ones are scaled to zero; otherwise all grow or shrink in proportion, which spreads the
 * risk. (Behaviour of `scale` in Kubernetes' `pkg/controller/deployment/sync.go`, except for the floor.)
 *
 * @returns whether it is complete; `false` if a ReplicaSet has to report its available pods first
 */
export function scaleToSpec(draft: RolloutDraft, sets: RolloutSets, rules: RolloutRules): boolean {
  const { latest, old, all } = sets;
  const active = activeOf(all);
  if (active.length <= 1) {
    const only = active[0] ?? latest ?? old.at(-1);
    if (only && only.replicas !== draft.replicas) draft.scale(only, draft.replicas);
  } else if (draft.limits.keptWhole) {
    scaleBeside(draft, sets, rules);
  } else if (latest && isSaturated(draft, latest, rules)) {
    // This ends a rollout, also a paused one, and is not what a change of the size asks for.
    for (const replicaSet of activeOf(old).reverse()) draft.shrink(replicaSet, 0);
  } else if (isRollingUpdate(draft.spec)) {
    return scaleInProportion(draft, active, latest, rules);
  }
  return true;
}

/**
 * Ends a scaling event: also records the new total on ReplicaSets that kept their size, or the event would never end.
 */
export function noteNewTotal(draft: RolloutDraft, { all }: RolloutSets): void {
  for (const replicaSet of activeOf(all)) draft.scale(replicaSet, replicaSet.replicas);
}

/** The new ReplicaSet has the requested size, and all of it is available. */
function isSaturated(draft: RolloutDraft, latest: ReplicaSetDraft, rules: RolloutRules): boolean {
  return (
    latest.replicas === draft.replicas &&
    sizeAnnotation(latest.annotations, DESIRED_REPLICAS) === draft.replicas &&
    lastingAvailable(latest, rules) === draft.replicas
  );
}

/**
 * Distributes the new total. The largest comes first, and gets the rounding remainder; among equals the newest grows
 * first and the oldest shrinks first.
 *
 * 5 → 10 in the middle of a rollout, surge 2 → 3 (7 → 13 in all), sizes 4 and 3: shares 3.4 and 2.6, so 7 and 6.
 */
function scaleInProportion(
  draft: RolloutDraft,
  active: readonly ReplicaSetDraft[],
  latest: ReplicaSetDraft | undefined,
  rules: RolloutRules,
): boolean {
  const toAdd = isHeld(draft) && !hasNewSize(draft, active) ? 0 : toAddOf(draft, active, rules);
  const ordered = [...active].sort((a, b) => b.replicas - a.replicas || tieBreak(toAdd, a, b));
  const shared = shareOut(draft, ordered, toAdd, rules);
  const floor = minAvailable(draft.spec);
  const { isAll, sizes } =
    toAdd !== 0 && rules.floor
      ? keepFloor({ active: ordered, sizes: shared, surplus: -toAdd, floor, latest })
      : { sizes: shared, isAll: true };
  const grows = (set: ReplicaSetDraft): boolean => (sizes.get(set) ?? set.replicas) > set.replicas;
  // If one grows and another shrinks, the room for it must be there first.
  const shrinkingFirst = rules.surgeCap
    ? ordered.toSorted((a, b) => Number(grows(a)) - Number(grows(b)))
    : ordered;
  for (const replicaSet of shrinkingFirst) {
    const share = sizes.get(replicaSet) ?? replicaSet.replicas;
    const size = Math.min(share, mostOf(draft, replicaSet, latest));
    // An unchanged size still gets the new total recorded, unless its turn is still to come.
    if (isAll || size !== replicaSet.replicas) draft.scale(replicaSet, size);
  }
  return isAll;
}

/**
 * How many pods a new size adds or, if negative, removes. A rollout that is held between two sizes has no use for the
 * surge; without a new size, what it has of the surge is for the rollout to take back once it goes on.
 */
function toAddOf(draft: RolloutDraft, active: readonly ReplicaSetDraft[], rules: RolloutRules): number {
  const most = isHeld(draft) ? draft.replicas : maxTotalReplicas(draft.spec);
  const allowed = draft.replicas > 0 ? wholeOf(draft.replicas, most, rules) : 0;
  return int32Arithmetic(rules).sum(allowed - totalReplicas(active));
}

/** How large policies let a ReplicaSet be: its share of a new size is no reason to go beyond a step, or to run what failed. */
function mostOf(draft: RolloutDraft, set: ReplicaSetDraft, latest: ReplicaSetDraft | undefined): number {
  if (draft.limits.mayNotGrow?.has(set)) return set.replicas;
  return set === latest && isHeld(draft) ? Math.max(set.replicas, draft.newSize) : Infinity;
}

function shareOut(
  draft: RolloutDraft,
  ordered: readonly ReplicaSetDraft[],
  toAdd: number,
  rules: RolloutRules,
): Map<ReplicaSetDraft, number> {
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
  return sizes;
}

/**
 * The total to distribute. A surge of more than 100 % makes more room than a rollout can use, because the new
 * ReplicaSet never exceeds `replicas`; Kubernetes fills it all the same, so that with a `maxSurge` of a million,
 * scaling in the middle of a rollout creates a million pods.
 */
function wholeOf(replicas: number, maxReplicas: number, { surgeCap }: RolloutRules): number {
  return surgeCap ? Math.min(maxReplicas, 2 * replicas) : maxReplicas;
}

/** The total that the size was a part of: from its annotation, otherwise the Deployment's. */
function wholeBefore(draft: RolloutDraft, { annotations }: ReplicaSetDraft, rules: RolloutRules): number {
  const whole = sizeAnnotation(annotations, MAX_REPLICAS) ?? 0;
  const replicas = sizeAnnotation(annotations, DESIRED_REPLICAS);
  if (whole === 0) return draft.status.replicas ?? 0;
  return replicas === undefined ? whole : wholeOf(replicas, whole, rules);
}

function tieBreak(toAdd: number, a: ReplicaSetDraft, b: ReplicaSetDraft): number {
  return toAdd > 0 ? byCreation(b, a) : toAdd < 0 ? byCreation(a, b) : 0;
}

/** This ReplicaSet's share of what is left to add (or, if negative, to remove). */
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
  // Others' annotations must not let one grow beyond the limit while all have to shrink.
  return Math.max(rules.surgeCap ? Math.min(fair, 0) : fair, left);
}

function fairShare(draft: RolloutDraft, replicaSet: ReplicaSetDraft, rules: RolloutRules): number {
  if (draft.replicas === 0) return -replicaSet.replicas;
  const whole = wholeOf(draft.replicas, maxTotalReplicas(draft.spec), rules);
  const before = wholeBefore(draft, replicaSet, rules);
  // Both are lost, and no pod was created: it keeps its size.
  if (before === 0) return 0;
  const { round, sum } = int32Arithmetic(rules);
  return sum(round((replicaSet.replicas * whole) / before) - replicaSet.replicas);
}
