import type { Lister, OwnerRelation, ResourceEvent, Urgency } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isPodActive, isPodReady, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { CompiledChangeWaits } from '../shared/index.js';
import {
  CONFIG_COPIES,
  POD_MARKS,
  failedPodsRule,
  podReadySinceMs,
  replacesAfterEnd,
} from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableReplicaSet = DeepReadonly<ReplicaSet>;

/** How soon a change of a ReplicaSet becomes a sync of it; undefined: not at all. */
export function replicaSetUrgency(event: ResourceEvent<ReplicaSet>): Urgency | undefined {
  if (event.type === 'modified' && !asksForMore(event.old, event.object)) {
    // Mostly our own write, which needs nothing more; a status that others have changed is repaired.
    if (sameJson(event.old.status, event.object.status)) return undefined;
    return { priority: 'low', reason: 'resync', onlyIfNeeded: true };
  }
  const isInitial = event.type === 'added' && event.initial;
  return {
    // A change while there was no leader, or just before, does not wait for all that did not change.
    priority: isInitial ? (isReplicaSetDue(event.object) ? 'normal' : 'low') : 'high',
    reason: isInitial ? 'initial-list' : 'user-change',
  };
}

/** One of the annotations is read. */
function asksForMore(old: ReadableReplicaSet, replicaSet: ReadableReplicaSet): boolean {
  return (
    old.metadata.generation !== replicaSet.metadata.generation ||
    replacesAfterEnd(old) !== replacesAfterEnd(replicaSet) ||
    old.metadata.annotations?.[POD_MARKS] !== replicaSet.metadata.annotations?.[POD_MARKS] ||
    old.metadata.annotations?.[CONFIG_COPIES] !== replicaSet.metadata.annotations?.[CONFIG_COPIES] ||
    !sameJson(failedPodsRule(old) ?? {}, failedPodsRule(replicaSet) ?? {}) ||
    old.metadata.deletionTimestamp !== replicaSet.metadata.deletionTimestamp
  );
}

/** How soon a change of a pod needs a sync. */
type Need = 'lost' | 'changed' | 'new' | 'ended';

/**
 * How soon a change of a pod becomes a sync of the ReplicaSet that controls it, did so, or might adopt it. A pod that must be replaced
 * wakes at once; all that only the status has to follow waits until the pods are where they should be, or nothing happens to
 * them for a moment, so that ten pods becoming ready make one sync.
 */
export function podUrgency(pods: Lister<Pod>, waits: CompiledChangeWaits) {
  const { burstMs, countMs, waveMs } = waits;
  const delayFor = (owner: ReadableReplicaSet, need: Need): number => {
    if (need === 'new') return waveMs;
    if (need === 'ended') return replacesAfterEnd(owner) ? 0 : countMs;
    const owned = pods.byIndex(OWNER_UID_INDEX, owner.metadata.uid ?? '');
    if (hasAllPodsReady(owner, owned)) return 0;
    return need === 'lost' && wantsReplacement(owner) ? 0 : burstMs;
  };
  return (
    event: ResourceEvent<Pod>,
    owner: ReadableReplicaSet,
    relation: OwnerRelation,
  ): Urgency | undefined => {
    const need = needOf(event, relation);
    // These only change counts, which a sync in progress may have included.
    const onlyIfNeeded = need === 'new' || need === 'ended';
    return need && { delayMs: delayFor(owner, need), onlyIfNeeded };
  };
}

function needOf(event: ResourceEvent<Pod>, relation: OwnerRelation): Need | undefined {
  const { object: pod } = event;
  if (relation === 'adopter') return event.type !== 'deleted' && isPodActive(pod) ? 'changed' : undefined;
  if (relation === 'former-owner') return 'lost';
  // The end of a pod that was known to have stopped counting is no news.
  if (event.type === 'deleted') return isPodActive(event.old ?? pod) ? 'lost' : 'ended';
  if (event.type === 'added') return 'new';
  if (isPodActive(pod)) return 'changed';
  return isPodActive(event.old) ? 'lost' : 'ended';
}

/** Every sync records the observed generation; and one that could not create all pods comes back by itself. */
export function isReplicaSetDue({ metadata, spec, status }: DeepReadonly<ReplicaSet>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const isBehind = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  return isBehind || (status?.replicas ?? 0) !== (spec.replicas ?? 1);
}

/** Above this number, pods are not counted for each change; the burst simply has to pause. */
const MOST_COUNTED = 200;

/**
 * Whether the pods have reached the ReplicaSet's target: as many as requested, all of them ready. Then the burst is
 * over, and its status can be written at once.
 */
function hasAllPodsReady(replicaSet: DeepReadonly<ReplicaSet>, owned: readonly DeepReadonly<Pod>[]): boolean {
  if (owned.length > MOST_COUNTED) return false;
  const active = owned.filter(isPodActive);
  return active.length === (replicaSet.spec.replicas ?? 1) && active.every(isPodReady);
}

/**
 * Whether the change could affect a sync. Addresses, nodes, restarts and the like only matter when choosing pods to
 * delete, and then the cache is read again.
 */
export function isRelevantPodChange(event: ResourceEvent<Pod>): boolean {
  return event.type !== 'modified' || differsInWhatCounts(event.old, event.object);
}

function differsInWhatCounts(old: ReadablePod, pod: ReadablePod): boolean {
  return (
    old.metadata.deletionTimestamp !== pod.metadata.deletionTimestamp ||
    old.status?.phase !== pod.status?.phase ||
    isPodReady(old) !== isPodReady(pod) ||
    podReadySinceMs(old) !== podReadySinceMs(pod) ||
    controllerOf(old)?.uid !== controllerOf(pod)?.uid ||
    !sameJson(old.metadata.labels ?? {}, pod.metadata.labels ?? {})
  );
}

/**
 * Whether the ReplicaSet's status is not above its requested size, so that a lost pod must be replaced. Above it the
 * loss is intended, and only the status has to follow.
 */
function wantsReplacement(replicaSet: DeepReadonly<ReplicaSet>): boolean {
  return (replicaSet.status?.replicas ?? 0) <= (replicaSet.spec.replicas ?? 1);
}
