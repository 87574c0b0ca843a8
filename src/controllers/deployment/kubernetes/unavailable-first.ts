import type { ReplicaSetDraft } from './replica-set-draft.js';
import { isObserved, lastingAvailable } from './replica-set-draft.js';
import { OWN_RULES } from './rollout-rules.js';

/** Proposed sizes when scaling down a rollout, and the constraints on them. */
interface SharedOut {
  /** The ReplicaSets with a size above zero, the largest first. */
  readonly active: readonly ReplicaSetDraft[];
  /** In proportion to the current sizes. */
  readonly sizes: ReadonlyMap<ReplicaSetDraft, number>;
  /** Number of pods to remove; below 0 if there is room for more. */
  readonly surplus: number;
  /** The minimum of available pods. */
  readonly floor: number;
  /** Others than the new one shrink first. */
  readonly latest?: ReplicaSetDraft;
}

interface KeptFloor {
  readonly sizes: ReadonlyMap<ReplicaSetDraft, number>;
  /** Whether it is complete; `false` if a ReplicaSet has to report its available pods first. */
  readonly isAll: boolean;
}

/**
 * The proposed sizes, if they keep the floor; otherwise unavailable pods are removed first, and of the available ones
 * only those beyond the floor. The pods of a ReplicaSet with an outdated status may all be available, or none: it keeps
 * its size, and its share is still to come.
 *
 * 9 → 7 pods, 7 old ones available and none of the 5 new ones, surge 2, floor 6: distributing 12 → 9 gives 5 and 4,
 * which leaves 5 available. So the new one gives 3: 7 and 2.
 */
export function keepFloor(shared: SharedOut): KeptFloor {
  const { active, floor, sizes } = shared;
  const sizeOf = (replicaSet: ReplicaSetDraft): number => sizes.get(replicaSet) ?? replicaSet.replicas;
  const kept = active.reduce((sum, set) => sum + Math.min(staying(set), sizeOf(set)), 0);
  const takesNone = active.every((set) => set.replicas - sizeOf(set) <= notAvailable(set));
  if (takesNone || kept >= floor) return { sizes, isAll: true };
  return shared.surplus > 0 ? takeUnavailableFirst(shared) : onlyGrow(shared);
}

/** If a share is smaller than the current size although there is room for more, the others grow by less. */
function onlyGrow({ active, sizes, surplus }: SharedOut): KeptFloor {
  let left = -surplus;
  const grown = active.map((replicaSet) => {
    const more = Math.max(0, Math.min(left, (sizes.get(replicaSet) ?? 0) - replicaSet.replicas));
    left -= more;
    return [replicaSet, replicaSet.replicas + more] as const;
  });
  return { sizes: new Map(grown), isAll: true };
}

function takeUnavailableFirst({ active, floor, latest, sizes, surplus }: SharedOut): KeptFloor {
  const taken = new Map(active.map((replicaSet) => [replicaSet, replicaSet.replicas]));
  let left = surplus;
  const take = (replicaSet: ReplicaSetDraft, most: number): number => {
    const count = Math.max(0, Math.min(left, most));
    taken.set(replicaSet, (taken.get(replicaSet) ?? 0) - count);
    left -= count;
    return count;
  };
  const oldFirst = [...active].sort((a, b) => Number(a === latest) - Number(b === latest));
  for (const replicaSet of oldFirst) take(replicaSet, notAvailable(replicaSet));
  let spare = active.reduce((sum, replicaSet) => sum + staying(replicaSet), 0) - floor;
  for (const replicaSet of active.filter(isObserved)) {
    const share = (taken.get(replicaSet) ?? 0) - (sizes.get(replicaSet) ?? 0);
    spare -= take(replicaSet, Math.min(share, spare));
  }
  return { sizes: taken, isAll: left === 0 || active.every(isObserved) };
}

/** The pods known to be available and to remain. */
function staying(replicaSet: ReplicaSetDraft): number {
  return lastingAvailable(replicaSet, OWN_RULES);
}

/** The pods known to be unavailable. */
function notAvailable(replicaSet: ReplicaSetDraft): number {
  return isObserved(replicaSet) ? replicaSet.replicas - staying(replicaSet) : 0;
}
