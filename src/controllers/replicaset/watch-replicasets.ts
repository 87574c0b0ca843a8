import type { Enqueue, Informer, ResourceEvent } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  PODS,
  REPLICA_SETS,
  controllerOf,
  keyOf,
  isPodActive,
  tryCompileLabelSelector,
  isPodReady,
  sameJson,
} from '@rollkeeper/machinery/kubernetes';
import type { CompiledChangeWaits } from '../shared/index.js';
import { SELECTOR_INDEX, selectorIndexValuesFor, podReadySinceMs } from '../shared/index.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableReplicaSet = DeepReadonly<ReplicaSet>;

interface WatchInput {
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  readonly enqueue: Enqueue;
  readonly waits: CompiledChangeWaits;
}

/**
 * Tells which changes concern which ReplicaSets. What somebody asked for, and a pod that must be replaced, wakes at
 * once; all that only the status has to follow waits until the pods are where they should be, or nothing happens to
 * them for a moment, so that ten pods becoming ready make one sync.
 */
export function watchReplicaSets(input: WatchInput): () => void {
  const stopReplicaSets = input.replicaSets.addEventHandler((event) => onReplicaSet(event, input.enqueue));
  const podHandler = new PodEventHandler(input);
  const stopPods = input.pods.addEventHandler((event) => podHandler.handle(event));
  return () => {
    stopReplicaSets();
    stopPods();
  };
}

function onReplicaSet(event: ResourceEvent<ReplicaSet>, enqueue: Enqueue): void {
  const { metadata } = event.object;
  if (event.type === 'modified' && !asksForMore(event.old, event.object)) return;
  const isInitial = event.type === 'added' && event.initial;
  enqueue({
    ref: { namespace: metadata.namespace, name: metadata.name },
    cause: { type: REPLICA_SETS, resourceVersion: metadata.resourceVersion ?? '' },
    change: event,
    // What changed while nobody led, or just before, does not wait for all that did not.
    priority: isInitial ? (isReplicaSetDue(event.object) ? 'normal' : 'low') : 'high',
    reason: isInitial ? 'initial-list' : 'user-change',
  });
}

/** Status and annotations ask for nothing: the first is written by us alone, the second is not read. */
function asksForMore(old: ReadableReplicaSet, replicaSet: ReadableReplicaSet): boolean {
  return (
    old.metadata.generation !== replicaSet.metadata.generation ||
    old.metadata.deletionTimestamp !== replicaSet.metadata.deletionTimestamp
  );
}

/** How soon a change of a pod needs a sync. */
type Urgency = 'lost' | 'changed' | 'new' | 'ended';

class PodEventHandler {
  /** UIDs of pods known to have stopped counting, so that their end is no news. */
  private readonly inactive = new Set<string>();

  constructor(private readonly input: WatchInput) {}

  handle(event: ResourceEvent<Pod>): void {
    const uid = event.object.metadata.uid ?? '';
    if (event.type === 'deleted') {
      this.wakeOwner(event.object, event, this.inactive.delete(uid) ? 'ended' : 'lost');
      return;
    }
    if (!isPodActive(event.object)) this.inactive.add(uid);
    if (event.type === 'modified') this.onModified(event);
    // The first list wakes every ReplicaSet by itself; orphans in it are found by the syncs.
    else if (!event.initial) this.onAdded(event);
  }

  private onAdded(event: ResourceEvent<Pod>): void {
    if (controllerOf(event.object)) this.wakeOwner(event.object, event, 'new');
    else this.wakeMatching(event);
  }

  private onModified(event: Extract<ResourceEvent<Pod>, { type: 'modified' }>): void {
    const { object: pod, old } = event;
    if (!isRelevantPodChange(old, pod)) return;
    const changedOwner = controllerOf(old)?.uid !== controllerOf(pod)?.uid;
    if (changedOwner) this.wakeOwner(old, event, 'lost');
    if (controllerOf(pod)) this.wakeOwner(pod, event, urgencyOf(old, pod));
    else this.wakeMatching(event);
  }

  /** @param event the change that the sync must have seen; `pod` is its state before or after */
  private wakeOwner(pod: ReadablePod, event: ResourceEvent<Pod>, urgency: Urgency): void {
    const owner = this.ownerOf(pod);
    if (owner) this.wake(owner, event, urgency);
  }

  /** An orphan: whoever selects it may adopt it. */
  private wakeMatching(event: ResourceEvent<Pod>): void {
    const pod = event.object;
    if (!isPodActive(pod)) return;
    const { lister } = this.input.replicaSets;
    const candidates = selectorIndexValuesFor(pod).flatMap((value) => lister.byIndex(SELECTOR_INDEX, value));
    for (const candidate of candidates) {
      if (tryCompileLabelSelector(candidate.spec.selector)?.(pod.metadata.labels))
        this.wake(candidate, event, 'changed');
    }
  }

  private delayFor(owner: ReadableReplicaSet, urgency: Urgency): number {
    const { burstMs, waveMs, countMs } = this.input.waits;
    if (urgency === 'new') return waveMs;
    if (urgency === 'ended') return countMs;
    const owned = this.input.pods.lister.byIndex(OWNER_UID_INDEX, owner.metadata.uid ?? '');
    if (hasAllPodsReady(owner, owned)) return 0;
    return urgency === 'lost' && wantsReplacement(owner) ? 0 : burstMs;
  }

  private ownerOf(pod: ReadablePod): ReadableReplicaSet | undefined {
    const controller = controllerOf(pod);
    if (controller?.kind !== REPLICA_SETS.kind) return undefined;
    const key = keyOf({ namespace: pod.metadata.namespace, name: controller.name });
    const owner = this.input.replicaSets.lister.get(key);
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  private wake(replicaSet: ReadableReplicaSet, event: ResourceEvent<Pod>, urgency: Urgency): void {
    const { namespace, name } = replicaSet.metadata;
    this.input.enqueue({
      ref: { namespace, name },
      cause: { type: PODS, resourceVersion: event.object.metadata.resourceVersion ?? '' },
      change: event,
      delayMs: this.delayFor(replicaSet, urgency),
      reason: 'child-change',
      // Only counts follow from these, and a sync that was on its way already may have counted.
      onlyIfNeeded: urgency === 'new' || urgency === 'ended',
    });
  }
}

function urgencyOf(old: ReadablePod, pod: ReadablePod): Urgency {
  if (isPodActive(pod)) return 'changed';
  return isPodActive(old) ? 'lost' : 'ended';
}

/** Every sync notes the generation that it saw; and one that could not make all pods comes back by itself. */
export function isReplicaSetDue({ metadata, spec, status }: DeepReadonly<ReplicaSet>): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const isBehind = (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
  return isBehind || (status?.replicas ?? 0) !== (spec.replicas ?? 1);
}

/** With more pods than this nobody counts them for each change; the burst simply has to pause. */
const MOST_COUNTED = 200;

/**
 * Whether the pods have come to where the ReplicaSet wants them: as many as it asks for, all of them ready. Then
 * nothing more is to be expected of a burst, and its status can be written at once.
 */
function hasAllPodsReady(replicaSet: DeepReadonly<ReplicaSet>, owned: readonly DeepReadonly<Pod>[]): boolean {
  if (owned.length > MOST_COUNTED) return false;
  const active = owned.filter(isPodActive);
  return active.length === (replicaSet.spec.replicas ?? 1) && active.every(isPodReady);
}

/**
 * Whether a sync could come to anything else because of this change. Addresses, nodes, restarts and the like
 * matter only when victims are chosen, and then the cache is read afresh.
 */
function isRelevantPodChange(old: ReadablePod, pod: ReadablePod): boolean {
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
 * Whether the ReplicaSet, as its status has it, is not above its wanted size, so that a lost pod must be replaced.
 * Above it the loss is what it asked for, and only the status has to follow.
 */
function wantsReplacement(replicaSet: DeepReadonly<ReplicaSet>): boolean {
  return (replicaSet.status?.replicas ?? 0) <= (replicaSet.spec.replicas ?? 1);
}
