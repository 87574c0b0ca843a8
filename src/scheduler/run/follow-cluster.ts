import type { ResourceEvent } from '@rollkeeper/client/informer';
import type { DeepReadonly, KubernetesObject, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { SchedulerCache } from '../cache/scheduler-cache.js';
import type { ViewedResource } from '../framework/cluster-view.js';
import type { ReadablePod } from '../framework/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { changeOf, nodeChangeOf, podUpdateOf } from '../queue/cluster-change.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { ClusterCaches } from './cluster-caches.js';

interface ClusterFollower {
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  /** Whether one of our profiles schedules the pod. */
  readonly isOurs: (pod: ReadablePod) => boolean;
  /** Called when a pod no longer waits for us to schedule it. */
  readonly onGone: (pod: ReadablePod) => void;
}

/** Brings what the caches show to the scheduler's cache of nodes and to its queue. Returns how to stop it. */
export function followCluster(caches: ClusterCaches, follower: ClusterFollower): () => void {
  const { cache, queue } = follower;
  const onNode = (event: ResourceEvent<Node>): void => {
    const { after, before } = statesOf(event);
    if (after) cache.setNode(after);
    else cache.removeNode(event.object.metadata.name);
    const change = nodeChangeOf(before, after);
    if (change) queue.move(change);
  };
  const onViewed = (resource: ViewedResource) => (event: ResourceEvent<KubernetesObject>) => {
    const { after, before } = statesOf(event);
    queue.move(changeOf(resource, before, after));
  };
  const removals = [
    // Nodes first, so that the first list of pods finds its nodes.
    caches.nodes.addEventHandler(onNode),
    ...[...caches.viewed].map(([name, informer]) => informer.addEventHandler(onViewed(name))),
    caches.pods.addEventHandler((event) => followPod(event, follower)),
  ];
  return () => removals.forEach((remove) => remove());
}

interface States<T> {
  readonly before?: DeepReadonly<T>;
  readonly after?: DeepReadonly<T>;
}

function statesOf<T>(event: ResourceEvent<T>): States<T> {
  if (event.type === 'deleted') return { before: event.object };
  return event.type === 'added' ? { after: event.object } : { before: event.old, after: event.object };
}

function followPod(event: ResourceEvent<Pod>, follower: ClusterFollower): void {
  const { after, before } = statesOf<Pod>(event);
  const [was, is] = [placeOf(before, follower), placeOf(after, follower)];
  if (was === 'waiting' && is !== 'waiting' && before) leaveQueue(before, is, follower);
  if (is === 'on-a-node' && after) onAssigned(was === 'on-a-node' ? before : undefined, after, follower);
  else if (was === 'on-a-node' && before) onReleased(before, follower);
  if (is === 'waiting' && after) onWaiting(was === 'waiting' ? before : undefined, after, follower);
}

type Place = 'nowhere' | 'on-a-node' | 'waiting';

function placeOf(pod: ReadablePod | undefined, { isOurs }: ClusterFollower): Place {
  if (!pod || isPodFinished(pod)) return 'nowhere';
  if (pod.spec.nodeName) return 'on-a-node';
  return isOurs(pod) ? 'waiting' : 'nowhere';
}

function onAssigned(
  before: ReadablePod | undefined,
  after: ReadablePod,
  { cache, queue }: ClusterFollower,
): void {
  if (before && sameJson(countedOf(before), countedOf(after))) return;
  cache.setPod(after);
  queue.move(before ? podUpdateOf(before, after) : changeOf('pods', undefined, after));
}

function onReleased(pod: ReadablePod, { cache, queue }: ClusterFollower): void {
  cache.removePod(keyOf(pod.metadata));
  queue.move(changeOf('pods', pod, undefined));
}

function onWaiting(
  before: ReadablePod | undefined,
  after: ReadablePod,
  { cache, queue }: ClusterFollower,
): void {
  // Forgets another pod of that name, should it have been on a node.
  cache.setPod(after);
  const key = keyOf(after.metadata);
  // Events of the state before the binding may arrive late, after our own change of its status for example.
  if (cache.isPlaced(key)) return;
  const [had, has] = [before?.status?.nominatedNodeName, after.status?.nominatedNodeName];
  if (has && !cache.isAssumed(key)) cache.nominate(podInfoOf(after), has);
  // Without either, we may have nominated it a moment ago.
  else if (had && !has) cache.clearNomination(key);
  if (before) queue.update(before, after);
  else queue.add(after);
}

function leaveQueue(pod: ReadablePod, is: Place, { cache, onGone, queue }: ClusterFollower): void {
  const key = keyOf(pod.metadata);
  const isPlaced = cache.isPlaced(key);
  const isNominated = cache.nominated
    .on(pod.status?.nominatedNodeName ?? '')
    .some((each) => each.key === key);
  queue.delete(pod);
  // If a pod was bound and deleted during a gap of the watch, the list shows it as deleted, and never on its node.
  if (is === 'nowhere') cache.removePod(key);
  else cache.clearNomination(key);
  onGone(pod);
  // The room that was kept for it, or that it had, is free.
  if (isNominated || (isPlaced && is === 'nowhere')) queue.move(changeOf('pods', pod, undefined));
}

/** The part of a pod on a node that counts for others: not what its kubelet reports all the time. */
function countedOf({ metadata, spec, status }: ReadablePod): unknown {
  const reported = new Set(['Ready', 'ContainersReady', 'Initialized', 'PodReadyToStartContainers']);
  const { conditions = [], containerStatuses = [], phase, startTime } = status ?? {};
  return {
    labels: metadata.labels,
    deletionTimestamp: metadata.deletionTimestamp,
    spec,
    phase,
    startTime,
    conditions: conditions
      .filter(({ type }) => !reported.has(type))
      .map((each) => [each.type, each.status, each.reason]),
    resources: containerStatuses.map((each) => {
      const { allocatedResources, resources } = each;
      return [allocatedResources, resources];
    }),
  };
}
