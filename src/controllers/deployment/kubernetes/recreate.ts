import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import { cleanUpHistory } from './cleanup.js';
import type { RolloutDraft, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { activeOf, isUpToDate } from './replica-set-draft.js';
import { withNewReplicaSet } from './new-replica-set.js';
import { isRolloutComplete, setRolloutStatus } from './progress.js';
import type { RolloutRules } from './rollout-rules.js';

/** The pods that a ReplicaSet controls. */
export type PodsOf = (replicaSet: ReplicaSetDraft) => readonly DeepReadonly<Pod>[];

/**
 * One step of a Recreate: scale everything old to zero, then wait until the last old pod has ended, then create the new
 * ReplicaSet at full size. (Behaviour of Kubernetes' `pkg/controller/deployment/recreate.go`.)
 *
 * Stricter than there: an old ReplicaSet only counts as empty once its controller has observed the size zero. Before that, a
 * status without pods may be older than the pods.
 */
export function stepRecreate(
  draft: RolloutDraft,
  observed: RolloutSets,
  podsOf: PodsOf,
  rules: RolloutRules,
): void {
  const complete = isRolloutComplete(draft, draft.status);
  const active = activeOf(observed.old);
  // No pod of an old version goes that cannot go as a whole: nothing would take the place of a part.
  const { shrinkLimit } = draft.limits;
  if (shrinkLimit && !shrinkLimit.allowsNone(active)) return setRolloutStatus(draft, observed);
  for (const replicaSet of active) draft.shrink(replicaSet, 0);
  if (active.length > 0 || observed.old.some((replicaSet) => mayRun(draft, replicaSet, podsOf))) {
    setRolloutStatus(draft, observed);
    return;
  }
  const sets = withNewReplicaSet(draft, observed, rules);
  if (sets.latest.replicas !== draft.replicas) draft.scale(sets.latest, draft.replicas);
  if ((sets.latest.observed?.spec.replicas ?? 0) < draft.replicas) draft.startedByRecreate = sets.latest;
  if (complete) cleanUpHistory(draft, sets.old);
  setRolloutStatus(draft, sets);
}

function isNotFinished(pod: DeepReadonly<Pod>): boolean {
  return !isPodFinished(pod);
}

/** Whether pods of this ReplicaSet run, or might without our having seen them yet. Includes terminating ones. */
function mayRun(draft: RolloutDraft, replicaSet: ReplicaSetDraft, podsOf: PodsOf): boolean {
  if (!isUpToDate(replicaSet) || (replicaSet.status.replicas ?? 0) > 0) return true;
  const stillRuns = draft.limits.startsBesideEnding ? isPodActive : isNotFinished;
  return podsOf(replicaSet).some(stillRuns);
}
