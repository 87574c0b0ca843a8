import type { CompleteRolloutSets, RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { activeOf, isObserved, lastingAvailable, totalReplicas } from './replica-set-draft.js';
import type { RolloutRules } from './rollout-rules.js';
import { maxTotalReplicas } from './limits.js';

/** Whether a step keeps the new ReplicaSet smaller than all. */
export function isHeld({ newSize, replicas }: Pick<RolloutDraft, 'newSize' | 'replicas'>): boolean {
  return newSize < replicas;
}

/**
 * Sizes the others while a step holds the new ReplicaSet: the one that was there before has what the step does not give to the new
 * one, and those in between, of rollouts that were not finished, have nothing. First it grows, as far as the ceiling allows; then the
 * others give what is not available, and of what is only what the floor does not need.
 *
 * 10 replicas at the step of 1, 8 of the good version and 2 of a version that was only tried: 9, 0 and 1.
 *
 * @returns whether any size changed
 */
export function sizeHeld(draft: RolloutDraft, sets: CompleteRolloutSets, rules: RolloutRules): boolean {
  const { latest, old, all } = sets;
  const active = activeOf(old);
  const stable = stableOf(draft, active);
  if (!stable) return false;
  const kept = draft.replicas - draft.newSize;
  const room = maxTotalReplicas(draft.spec) - totalReplicas(all);
  const grown = Math.min(kept - stable.replicas, room);
  if (grown > 0) return draft.scale(stable, stable.replicas + grown);
  const { shrink, hasMoved } = shrinking(draft, all, rules);
  for (const set of active) if (set !== stable) shrink(set, 0);
  shrink(stable, kept);
  shrink(latest, draft.newSize);
  return hasMoved();
}

/**
 * Sizes the others where they run whole beside the new one: those that are kept have all of `replicas`, or what they need of it, and the
 * rest has nothing.
 *
 * 10 replicas with a surge of 10, 10 of the active version and 4 of one that was only tried, and then another: 10, 0 and 10.
 *
 * @returns whether any size changed
 */
export function sizeBeside(
  draft: RolloutDraft,
  { latest, old, all }: RolloutSets,
  rules: RolloutRules,
): boolean {
  const { keptWhole = new Set(), mayNotGrow } = draft.limits;
  const active = activeOf(old);
  const kept = active.filter((set) => keptWhole.has(set));
  const grown = kept.filter(
    (set) => mayNotGrow?.has(set) !== true && growTo(draft, set, { all, size: keptSizeOf(draft, set) }),
  );
  if (grown.length > 0) return true;
  const { followSize, hasMoved, shrink } = shrinking(draft, all, rules);
  for (const set of active) if (!keptWhole.has(set)) shrink(set, 0);
  for (const set of kept) {
    followSize(set);
    shrink(set, keptSizeOf(draft, set));
  }
  if (latest) followSize(latest);
  return hasMoved();
}

/**
 * The same after a change of `replicas`, which a paused rollout follows as well: the new one grows only if it has begun, and no further
 * than its step.
 */
export function scaleBeside(draft: RolloutDraft, sets: RolloutSets, rules: RolloutRules): void {
  const { all, latest } = sets;
  while (sizeBeside(draft, sets, rules));
  if (latest && latest.replicas > 0) growTo(draft, latest, { all, size: draft.newSize });
}

/** The size of one that is kept; of all others, all of `replicas`. */
export function keptSizeOf({ limits, replicas }: RolloutDraft, set: ReplicaSetDraft): number {
  return limits.keptWhole?.has(set) ? Math.min(replicas, limits.keptSize?.(set) ?? replicas) : replicas;
}

function growTo(
  draft: RolloutDraft,
  set: ReplicaSetDraft,
  { all, size }: { readonly all: readonly ReplicaSetDraft[]; readonly size: number },
): boolean {
  const room = maxTotalReplicas(draft.spec) - totalReplicas(all);
  const more = Math.min(size - set.replicas, room);
  return more > 0 && draft.scale(set, set.replicas + more);
}

interface Shrinking {
  /** Takes what is not available, and of what is only what the floor does not need. */
  readonly shrink: (set: ReplicaSetDraft, wanted: number) => void;
  /** The same down to `replicas`, which is no rollout. */
  readonly followSize: (set: ReplicaSetDraft) => void;
  readonly hasMoved: () => boolean;
}

function shrinking(draft: RolloutDraft, all: readonly ReplicaSetDraft[], rules: RolloutRules): Shrinking {
  let spare = all.reduce((sum, set) => sum + lastingAvailable(set, rules), 0) - draft.floor;
  let moved = false;
  const take = (set: ReplicaSetDraft, wanted: number, to: (size: number) => number): void => {
    const excess = isObserved(set) ? set.replicas - wanted : 0;
    if (excess <= 0) return;
    const lasting = lastingAvailable(set, rules);
    const idle = Math.min(excess, set.replicas - lasting);
    const serving = Math.max(0, Math.min(excess - idle, spare));
    const taken = idle + serving > 0 ? to(set.replicas - idle - serving) : 0;
    spare -= Math.max(0, taken - idle);
    moved ||= taken > 0;
  };
  return {
    hasMoved: () => moved,
    shrink: (set, wanted) =>
      take(set, Math.max(wanted, draft.limits.leastOld?.(set) ?? 0), (size) => draft.shrink(set, size)),
    followSize: (set) =>
      take(set, draft.replicas, (size) => {
        const before = set.replicas;
        draft.scale(set, size);
        return before - size;
      }),
  };
}

/** The newest of the good, or else the largest. */
export function stableOf(
  { limits: { isGood = () => false } }: RolloutDraft,
  oldestFirst: readonly ReplicaSetDraft[],
): ReplicaSetDraft | undefined {
  const [largest] = oldestFirst.toSorted((a, b) => b.replicas - a.replicas);
  return oldestFirst.findLast((set) => isGood(set)) ?? largest;
}
