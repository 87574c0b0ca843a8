import type { RolloutDraft } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { isUpToDate } from './replica-set-draft.js';
import { byRevision } from './revision.js';

/** The API's largest int32 means "keep all". */
const KEEP_ALL = 2 ** 31 - 1;

/**
 * Deletes the least recently used of the old ReplicaSets beyond `revisionHistoryLimit`. One that still has pods, or
 * whose size its controller has not observed yet, is kept, and no other is deleted in its place.
 */
export function cleanUpHistory(draft: RolloutDraft, old: readonly ReplicaSetDraft[]): void {
  const limit = draft.spec.revisionHistoryLimit ?? KEEP_ALL;
  if (limit === KEEP_ALL) return;
  const candidates = old.filter(({ observed }) => observed?.metadata.deletionTimestamp === undefined);
  const surplus = [...candidates].sort(byRevision).slice(0, Math.max(0, candidates.length - limit));
  for (const replicaSet of surplus)
    if (isIdle(draft, replicaSet) && replicaSet !== draft.limits.keptForRollback) draft.delete(replicaSet);
}

function isIdle({ limits }: RolloutDraft, replicaSet: ReplicaSetDraft): boolean {
  // Pods that are ending would no longer be counted.
  if ((limits.podsOccupiedBy?.(replicaSet) ?? 0) > 0) return false;
  return replicaSet.replicas === 0 && (replicaSet.status.replicas ?? 0) === 0 && isUpToDate(replicaSet);
}
