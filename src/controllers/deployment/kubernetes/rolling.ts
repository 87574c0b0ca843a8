import {
  available,
  lastingAvailable,
  sumAvailable,
  activeOf,
  isObserved,
  totalReplicas,
} from './replica-set-draft.js';
import type { RolloutDraft, CompleteRolloutSets, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { int32Arithmetic } from './int32.js';
import { isHeld, sizeBeside, sizeHeld } from './held-sizes.js';
import { cleanUpHistory } from './cleanup.js';
import { allowedNewSize, withNewReplicaSet } from './new-replica-set.js';
import { isRolloutComplete, setRolloutStatus } from './progress.js';
import type { RolloutRules } from './rollout-rules.js';

/**
 * One step of a rolling update: the new ReplicaSet up, otherwise the old ones down, otherwise the history cleaned up;
 * the status in any case. (Behaviour of Kubernetes' `pkg/controller/deployment/rolling.go`.)
 *
 * 10 replicas, surge 3, 2 may be unavailable: new 3; old 8; new 5; and now the rollout waits for new pods. Each new pod
 * that becomes available allows deleting an old one, and that makes room for another new one.
 */
export function stepRollingUpdate(draft: RolloutDraft, observed: RolloutSets, rules: RolloutRules): void {
  const complete = isRolloutComplete(draft, draft.status);
  const sets = withNewReplicaSet(draft, observed, rules);
  const shrinkOld = draft.limits.keptWhole ? sizeBeside : isHeld(draft) ? sizeHeld : scaleDownOld;
  const moved = resizeNew(draft, sets, rules) || shrinkOld(draft, sets, rules);
  if (!moved && complete) cleanUpHistory(draft, sets.old);
  setRolloutStatus(draft, sets);
}

function resizeNew(draft: RolloutDraft, { latest, all }: CompleteRolloutSets, rules: RolloutRules): boolean {
  const wanted = draft.newSize;
  if (latest.replicas === wanted) return false;
  const most = draft.replicas + (draft.limits.surge ?? 0);
  if (latest.replicas > most) return draft.scale(latest, most);
  if (latest.replicas > wanted) return false;
  const allowed = allowedNewSize(draft, latest.replicas, all, int32Arithmetic(rules));
  const size = Math.min(allowed, wanted);
  return size !== latest.replicas && draft.scale(latest, size);
}

/**
 * Removes old pods as far as the floor allows: the total size, less the floor, less the unavailable pods of the new
 * one. Missing pods must not allow others to be removed.
 *
 * Old 8, new 5 with none available, floor 8: 13 - 8 - 5 = 0, so a crash-looping version stops here.
 */
function scaleDownOld(
  draft: RolloutDraft,
  { latest, old, all }: CompleteRolloutSets,
  rules: RolloutRules,
): boolean {
  const active = activeOf(old);
  const { floor } = draft;
  const newAvailable = lastingAvailable(latest, rules);
  const room = totalReplicas(all) - floor - (latest.replicas - newAvailable);
  if (active.length === 0 || room <= 0) return false;
  const cleanedUp = cleanUpUnhealthy(draft, active, room, rules);
  if (cleanedUp === undefined) return false;
  const spare = sumAvailable(active, rules) + newAvailable - floor;
  const limit = rules.floor ? Math.min(spare, room - cleanedUp) : spare;
  return scaleDownInOrder(draft, active, limit) + cleanedUp > 0;
}

/**
 * Unavailable pods are removed first, or they could block the rollout forever. The ReplicaSet controller also prefers
 * them, so this costs no availability. `undefined` if a ReplicaSet has not reached its size yet: its number of
 * remaining pods is unknown.
 */
function cleanUpUnhealthy(
  draft: RolloutDraft,
  oldestFirst: readonly ReplicaSetDraft[],
  limit: number,
  rules: RolloutRules,
): number | undefined {
  let cleanedUp = 0;
  for (const replicaSet of oldestFirst) {
    if (cleanedUp >= limit) break;
    const unhealthy = replicaSet.replicas - available(replicaSet, rules);
    if (unhealthy < 0 || (rules.floor && !isObserved(replicaSet))) return undefined;
    const size = Math.min(limit - cleanedUp, unhealthy, mayGo(draft, replicaSet));
    if (size > 0) cleanedUp += draft.shrink(replicaSet, replicaSet.replicas - size);
  }
  return cleanedUp;
}

/** How many pods a rollout may take from one of the others. */
function mayGo({ limits }: RolloutDraft, replicaSet: ReplicaSetDraft): number {
  return Math.max(0, replicaSet.replicas - (limits.leastOld?.(replicaSet) ?? 0));
}

function scaleDownInOrder(
  draft: RolloutDraft,
  oldestFirst: readonly ReplicaSetDraft[],
  limit: number,
): number {
  let scaledDown = 0;
  for (const replicaSet of oldestFirst) {
    if (scaledDown >= limit) break;
    const size = Math.min(mayGo(draft, replicaSet), limit - scaledDown);
    if (size > 0) scaledDown += draft.shrink(replicaSet, replicaSet.replicas - size);
  }
  return scaledDown;
}
