import type { Kind, Lister, ResourceEvent, Urgency, WatchedKind } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX, Pod, ReplicaSet, findAdopters, findOwner, watch } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { EVICTION_ASKED, controllerOf, isInReach, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';
import type { CompiledChangeWaits } from '../shared/index.js';
import { replacesAfterEnd } from '../shared/index.js';
import { REVISION } from './kubernetes/annotations.js';
import { abandonedBy } from './policies/experiment/experiment-sets.js';

/** How soon a change of a Deployment becomes a sync of it. */
export function urgencyOf(
  event: ResourceEvent<Deployment>,
  { countMs }: CompiledChangeWaits,
): Urgency | undefined {
  if (event.type === 'modified' && isCountedCollision(event.old, event.object)) return undefined;
  if (event.type === 'added' && event.initial) {
    // A change while there was no leader, or just before, does not wait for all that did not change.
    return { priority: isDeploymentDue(event.object) ? 'normal' : 'low', reason: 'initial-list' };
  }
  if (event.type === 'modified' && !isWantedChange(event.old, event.object)) {
    return { priority: 'low', reason: 'resync', delayMs: countMs, onlyIfNeeded: true };
  }
  return { priority: 'high', reason: 'user-change' };
}

/** How soon a change of a ReplicaSet becomes a sync of the Deployment that controls it, or might adopt it. */
export function replicaSetUrgency(replicaSets: Lister<ReplicaSet>, waits: CompiledChangeWaits) {
  const { burstMs, countMs, waveMs } = waits;
  const delayFor = (event: ResourceEvent<ReplicaSet>, deployment: DeepReadonly<Deployment>): number => {
    if (event.type === 'deleted') return 0;
    if (event.type === 'added' || hasOnlyBeenAsked(event.old, event.object)) return waveMs;
    if (onlyPodsEnded(event.old, event.object)) return replacesAfterEnd(event.object) ? 0 : countMs;
    if (!hasAllAvailable(event.object)) return burstMs;
    return isWithinWave(event, deployment, replicaSets) ? waveMs : 0;
  };
  return (event: ResourceEvent<ReplicaSet>, deployment: DeepReadonly<Deployment>): Urgency => ({
    delayMs: delayFor(event, deployment),
  });
}

/** Whether a ReplicaSet has only shrunk while another one grows: the next step depends on that one's pods. */
function isWithinWave(
  event: ResourceEvent<ReplicaSet>,
  deployment: DeepReadonly<Deployment>,
  replicaSets: Lister<ReplicaSet>,
): boolean {
  if (event.type !== 'modified' || deployment.spec.strategy?.type === 'Recreate') return false;
  if (available(event.object) >= available(event.old)) return false;
  const { uid } = event.object.metadata;
  return replicaSets
    .byIndex(OWNER_UID_INDEX, deployment.metadata.uid ?? '')
    .some((sibling) => sibling.metadata.uid !== uid && (sibling.spec.replicas ?? 1) > available(sibling));
}

/**
 * A Recreate continues when the last pod of an old ReplicaSet is deleted. A rollout that replaces pods once they have ended
 * continues when any of them is deleted.
 */
export function watchLastPods(kind: Kind<Deployment>): WatchedKind {
  return watch(
    Pod,
    function* (pod, listerOf) {
      const replicaSet = findOwner(pod, ReplicaSet, listerOf(ReplicaSet));
      if (!replicaSet) return;
      const waitsForEach = replacesAfterEnd(replicaSet);
      const left = listerOf(Pod).byIndex(OWNER_UID_INDEX, replicaSet.metadata.uid ?? '');
      if (left.some((each) => isInReach(each, replicaSet)) && !waitsForEach) return;
      const deployments = listerOf(kind);
      const concerned = controllerOf(replicaSet)
        ? [findOwner(replicaSet, kind, deployments)]
        : findAdopters(replicaSet, deployments);
      for (const deployment of concerned)
        if (deployment && (waitsForEach || deployment.spec.strategy?.type === 'Recreate'))
          yield deployment.metadata;
    },
    ({ type }) => type === 'deleted',
  );
}

/**
 * A pod whose eviction is requested, or is no longer requested, concerns the Deployment that replaces it. So does the deletion
 * of such a pod.
 */
export function watchAskedEvictions(kind: Kind<Deployment>): WatchedKind {
  return watch(
    Pod,
    function* (pod, listerOf) {
      const replicaSet = findOwner(pod, ReplicaSet, listerOf(ReplicaSet));
      const deployment = replicaSet && findOwner(replicaSet, kind, listerOf(kind));
      if (deployment) yield deployment.metadata;
    },
    (event) => {
      const before = event.type === 'modified' ? askedBy(event.old) : undefined;
      if (event.type !== 'modified') return askedBy(event.object) !== undefined;
      return before !== askedBy(event.object);
    },
  );
}

/** An experiment that has lost its Deployment brings the key of that back, also at the start, so that it ends. */
export function watchAbandonedExperiments(): WatchedKind {
  const watched = watch(
    ReplicaSet,
    (set) => [abandonedBy(set) ?? []].flat().map((name) => ({ namespace: set.metadata.namespace, name })),
    ({ object, type }) => type !== 'deleted' && abandonedBy(object) !== undefined,
  );
  return { ...watched, initially: true, urgency: { onlyIfNeeded: true } };
}

function askedBy({ metadata }: DeepReadonly<Pod>): string | undefined {
  return metadata.deletionTimestamp === undefined ? metadata.annotations?.[EVICTION_ASKED] : undefined;
}

/** Whether the spec or other user input has changed; our own writes only change the status and the revision. */
function isWantedChange(old: DeepReadonly<Deployment>, object: DeepReadonly<Deployment>): boolean {
  if (old.metadata.generation !== object.metadata.generation) return true;
  return !semanticEqual(wanted(old), wanted(object));
}

/**
 * Whether the only change is a collision counted by our own pass. That pass comes back by itself, with backoff if
 * needed; woken by its own write, it would come back at once as long as the names are taken.
 */
function isCountedCollision(old: DeepReadonly<Deployment>, object: DeepReadonly<Deployment>): boolean {
  const [before = 0, now = 0] = [old.status?.collisionCount, object.status?.collisionCount];
  return now > before && !isWantedChange(old, object);
}

function wanted({ metadata }: DeepReadonly<Deployment>): unknown {
  const { [REVISION]: _revision, ...annotations } = annotationsOf({ metadata });
  const { labels, deletionTimestamp, finalizers, ownerReferences } = metadata;
  return { annotations, labels, deletionTimestamp, finalizers, ownerReferences };
}

/** Without the annotation that every traced write leaves. */
function annotationsOf({
  metadata,
}: Pick<DeepReadonly<KubernetesObject>, 'metadata'>): Record<string, string> {
  const { [TRACE_ANNOTATION]: _trace, ...annotations } = metadata.annotations ?? {};
  return annotations;
}

/** Whether the ReplicaSet has its requested size, with every pod available. */
function hasAllAvailable({ metadata, spec, status }: DeepReadonly<ReplicaSet>): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}

function available({ status }: DeepReadonly<ReplicaSet>): number {
  return status?.availableReplicas ?? 0;
}

const ASKED_METADATA = ['deletionTimestamp', 'generation', 'labels', 'ownerReferences'] as const;

/** Whether only the spec has changed, such as its size. The change of the status that follows will wake the Deployment. */
function hasOnlyBeenAsked(old: DeepReadonly<ReplicaSet>, replicaSet: DeepReadonly<ReplicaSet>): boolean {
  return (
    semanticEqual(old.status, replicaSet.status) && controllerOf(old)?.uid === controllerOf(replicaSet)?.uid
  );
}

/** Whether only inactive pods have ended: then just a number in our status changes. */
function onlyPodsEnded(old: DeepReadonly<ReplicaSet>, replicaSet: DeepReadonly<ReplicaSet>): boolean {
  const { terminatingReplicas: before, ...was } = old.status ?? { replicas: 0 };
  const { terminatingReplicas: after, ...is } = replicaSet.status ?? { replicas: 0 };
  const sameMetadata =
    ASKED_METADATA.every((field) => semanticEqual(old.metadata[field], replicaSet.metadata[field])) &&
    semanticEqual(annotationsOf(old), annotationsOf(replicaSet));
  return before !== after && sameMetadata && semanticEqual(was, is);
}

/** Every sync records the observed generation, regardless of its result. */
export function isDeploymentDue({ metadata, status }: DeepReadonly<Deployment>): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)
  );
}
