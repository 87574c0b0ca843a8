import { available, lastingAvailable, sumAvailable, activeOf, isObserved, totalReplicas } from './draft.js';
import type { ReplicaSetDraft, RolloutDraft, CompleteRolloutSets, RolloutSets } from './draft.js';
import { int32Arithmetic } from './int32.js';
import { maxTotalReplicas, minAvailable } from './limits.js';
import { cleanUpHistory } from './cleanup.js';
import { allowedNewSize, withNewReplicaSet } from './new-replica-set.js';
import { isRolloutComplete, setRolloutStatus } from './progress.js';
import type { RolloutRules } from './deployment.options.js';

/**
 * One step of a rolling update: the new ReplicaSet up, or else the old ones down, or else the history tidied; the
 * status in any case. (Behaviour of Kubernetes' `pkg/controller/deployment/rolling.go`.)
 *
 * 10 replicas, surge 3, 2 may be unavailable: new 3; old 8; new 5; and now everything waits for new pods. Each new
 * pod that becomes available lets an old one go, and that makes room for another new one.
 */
export function stepRollingUpdate(draft: RolloutDraft, observed: RolloutSets, rules: RolloutRules): void {
  const complete = isRolloutComplete(draft, draft.status);
  const sets = withNewReplicaSet(draft, observed, rules);
  const moved =
    resizeNew(draft, sets, rules) || scaleDownOld(draft, sets, rules) || growOld(draft, sets, rules);
  if (!moved && complete) cleanUpHistory(draft, sets.old);
  setRolloutStatus(draft, sets);
}

function resizeNew(draft: RolloutDraft, { latest, all }: CompleteRolloutSets, rules: RolloutRules): boolean {
  const wanted = draft.newSize;
  if (latest.replicas === wanted) return false;
  if (latest.replicas > draft.replicas) return draft.scale(latest, draft.replicas);
  if (latest.replicas > wanted) return false;
  const allowed = allowedNewSize(draft, latest.replicas, all, int32Arithmetic(rules));
  const size = Math.min(allowed, wanted);
  return size !== latest.replicas && draft.scale(latest, size);
}

/**
 * Takes away old pods as far as the floor allows. What may go is what all ReplicaSets ask for, less the floor, less
 * what the new one has not got available yet: pods that are not there must not let others go.
 *
 * Old 8, new 5 of which none is available, floor 8: 13 - 8 - 5 = 0, so a crash-looping version stops here.
 */
function scaleDownOld(
  draft: RolloutDraft,
  { latest, old, all }: CompleteRolloutSets,
  rules: RolloutRules,
): boolean {
  const active = activeOf(old);
  const floor = minAvailable(draft.spec);
  const newAvailable = lastingAvailable(latest, rules);
  const kept = draft.replicas - draft.newSize;
  const room = Math.min(
    totalReplicas(all) - floor - (latest.replicas - newAvailable),
    ...(kept > 0 ? [totalReplicas(old) - kept] : []),
  );
  if (active.length === 0 || room <= 0) return false;
  const cleanedUp = cleanUpUnhealthy(draft, active, room, rules);
  if (cleanedUp === undefined) return false;
  const spare = sumAvailable(active, rules) + newAvailable - floor;
  const limit = rules.floor || kept > 0 ? Math.min(spare, room - cleanedUp) : spare;
  return scaleDownInOrder(draft, active, limit) + cleanedUp > 0;
}

/**
 * What a step does not give to the new ReplicaSet, the others have: the newest of them grows to it within the ceiling, and what the
 * new one has too much goes as the floor allows. Where nothing holds the rollout, there is nothing to do.
 *
 * 20 replicas at 20 %, scaled from 10 with 2 new and 8 old: new 4, old 16.
 */
function growOld(
  draft: RolloutDraft,
  { latest, old, all }: CompleteRolloutSets,
  rules: RolloutRules,
): boolean {
  const missing = draft.replicas - draft.newSize - totalReplicas(old);
  const newest = activeOf(old).at(-1);
  if (draft.cap === undefined || !newest) return false;
  const room = maxTotalReplicas(draft.spec) - totalReplicas(all);
  const grown = Math.min(missing, room);
  if (grown > 0) return draft.scale(newest, newest.replicas + grown);
  const excess = latest.replicas - draft.newSize;
  if (excess <= 0 || !isObserved(latest)) return false;
  const lasting = lastingAvailable(latest, rules);
  const others = old.reduce((sum, set) => sum + lastingAvailable(set, rules), 0);
  const spare = Math.max(0, others + lasting - minAvailable(draft.spec));
  const taken = Math.min(excess, latest.replicas - lasting + spare);
  return taken > 0 && draft.scale(latest, latest.replicas - taken);
}

/**
 * Pods that are not available anyway go first, or they could block the rollout for ever. The ReplicaSet controller
 * takes them first too, so this costs no availability. `undefined` at a ReplicaSet that is not where it was told to
 * be yet: how many of its pods stay is not known.
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
    const size = Math.min(limit - cleanedUp, unhealthy);
    if (size > 0) draft.scale(replicaSet, replicaSet.replicas - size);
    cleanedUp += size;
  }
  return cleanedUp;
}

function scaleDownInOrder(
  draft: RolloutDraft,
  oldestFirst: readonly ReplicaSetDraft[],
  limit: number,
): number {
  let scaledDown = 0;
  for (const replicaSet of oldestFirst) {
    if (scaledDown >= limit) break;
    const size = Math.min(replicaSet.replicas, limit - scaledDown);
    if (size > 0) draft.scale(replicaSet, replicaSet.replicas - size);
    scaledDown += size;
  }
  return scaledDown;
}
