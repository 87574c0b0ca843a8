import type { Enqueue } from '../../controller/controller-definition.js';
import type { Informer, ResourceEvent } from '../../informer/informer.js';
import type { DeepReadonly, Pod, ReplicaSet } from '../../kubernetes/index.js';
import { PODS, REPLICA_SETS, compileLabelSelector, controllerOf, keyOf } from '../../kubernetes/index.js';
import { SELECTOR_INDEX, selectorIndexValuesFor } from '../shared/index.js';
import { isRelevantPodChange, lostActivePod, wantsReplacement } from './pod-change.js';

type ReadablePod = DeepReadonly<Pod>;
type ReadableReplicaSet = DeepReadonly<ReplicaSet>;

interface WatchInput {
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
  readonly enqueue: Enqueue;
  /** How long changes of pods are gathered. */
  readonly podChangeDelayMs: number;
}

/**
 * Tells which changes concern which ReplicaSets. What somebody asked for, and a pod that must be replaced, wakes at
 * once; all that only the status has to follow waits a moment, so that ten pods becoming ready make one or two
 * syncs.
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
    priority: isInitial ? 'low' : 'high',
    reason: isInitial ? 'initial-list' : 'user-change',
  });
}

/** Status and annotations ask for nothing: the first is written by us alone, the second is not read. */
function asksForMore(old: ReadableReplicaSet, replicaSet: ReadableReplicaSet): boolean {
  return (
    old.metadata.uid !== replicaSet.metadata.uid ||
    old.metadata.generation !== replicaSet.metadata.generation ||
    old.metadata.deletionTimestamp !== replicaSet.metadata.deletionTimestamp
  );
}

class PodEventHandler {
  constructor(private readonly input: WatchInput) {}

  handle(event: ResourceEvent<Pod>): void {
    const pod = event.object;
    if (event.type === 'added') {
      // The first list wakes every ReplicaSet by itself; orphans in it are found by the syncs.
      if (!event.initial) this.wakeFor(pod, pod);
    } else if (event.type === 'deleted') {
      this.wakeOwner(pod, pod, { lost: pod.metadata.deletionTimestamp === undefined });
    } else if (isRelevantPodChange(event.old, pod)) {
      const changedOwner = controllerOf(event.old)?.uid !== controllerOf(pod)?.uid;
      if (changedOwner) this.wakeOwner(event.old, pod, { lost: true });
      const lost = lostActivePod(event.old, pod);
      if (controllerOf(pod)) this.wakeOwner(pod, pod, { lost });
      else if (changedOwner || !lost) this.wakeMatching(pod);
    }
  }

  private wakeFor(pod: ReadablePod, seen: ReadablePod): void {
    if (controllerOf(pod)) this.wakeOwner(pod, seen, { lost: false });
    else this.wakeMatching(pod);
  }

  /** @param seen the state whose resourceVersion the sync must have seen */
  private wakeOwner(pod: ReadablePod, seen: ReadablePod, { lost }: { lost: boolean }): void {
    const owner = this.ownerOf(pod);
    if (owner) this.wake(owner, seen, lost && wantsReplacement(owner) ? 0 : this.input.podChangeDelayMs);
  }

  /** An orphan: whoever selects it may adopt it. */
  private wakeMatching(pod: ReadablePod): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const { lister } = this.input.replicaSets;
    const candidates = selectorIndexValuesFor(pod).flatMap((value) => lister.byIndex(SELECTOR_INDEX, value));
    for (const candidate of candidates) {
      if (selects(candidate, pod)) this.wake(candidate, pod, this.input.podChangeDelayMs);
    }
  }

  private ownerOf(pod: ReadablePod): ReadableReplicaSet | undefined {
    const controller = controllerOf(pod);
    if (controller?.kind !== REPLICA_SETS.kind) return undefined;
    const key = keyOf({ namespace: pod.metadata.namespace, name: controller.name });
    const owner = this.input.replicaSets.lister.get(key);
    return owner?.metadata.uid === controller.uid ? owner : undefined;
  }

  private wake(replicaSet: ReadableReplicaSet, seen: ReadablePod, delayMs: number): void {
    const { namespace, name } = replicaSet.metadata;
    this.input.enqueue({
      ref: { namespace, name },
      cause: { type: PODS, resourceVersion: seen.metadata.resourceVersion ?? '' },
      delayMs,
      reason: 'child-change',
    });
  }
}

/** A selector that cannot be compiled selects nothing; its own sync complains. */
function selects(replicaSet: ReadableReplicaSet, pod: ReadablePod): boolean {
  try {
    return compileLabelSelector(replicaSet.spec.selector)(pod.metadata.labels);
  } catch {
    return false;
  }
}
