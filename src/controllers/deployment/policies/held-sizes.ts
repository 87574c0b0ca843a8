import type { CompleteRolloutSets, ReplicaSetDraft, RolloutDraft } from '../draft.js';
import { activeOf, isObserved, lastingAvailable, totalReplicas } from '../draft.js';
import type { RolloutRules } from '../deployment.options.js';
import { maxTotalReplicas, minAvailable } from '../limits.js';
import { isGood } from './revisions.js';

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
  const stable = stableOf(active);
  if (!stable) return false;
  const kept = draft.replicas - draft.newSize;
  const room = maxTotalReplicas(draft.spec) - totalReplicas(all);
  const grown = Math.min(kept - stable.replicas, room);
  if (grown > 0) return draft.scale(stable, stable.replicas + grown);
  let spare = all.reduce((sum, set) => sum + lastingAvailable(set, rules), 0) - minAvailable(draft.spec);
  let moved = false;
  const shrink = (set: ReplicaSetDraft, wanted: number): void => {
    const excess = isObserved(set) ? set.replicas - wanted : 0;
    if (excess <= 0) return;
    const lasting = lastingAvailable(set, rules);
    const idle = Math.min(excess, set.replicas - lasting);
    const serving = Math.max(0, Math.min(excess - idle, spare));
    const taken = idle + serving > 0 ? draft.shrink(set, set.replicas - idle - serving) : 0;
    spare -= Math.max(0, taken - idle);
    moved ||= taken > 0;
  };
  for (const set of active) if (set !== stable) shrink(set, 0);
  shrink(stable, kept);
  shrink(latest, draft.newSize);
  return moved;
}

/** The newest of the good, or else the largest. */
function stableOf(oldestFirst: readonly ReplicaSetDraft[]): ReplicaSetDraft | undefined {
  const [largest] = oldestFirst.toSorted((a, b) => b.replicas - a.replicas);
  return oldestFirst.findLast(isGood) ?? largest;
}
