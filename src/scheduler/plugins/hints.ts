import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type {
  ClusterEventWithHint,
  EventAction,
  EventResource,
  QueueingHintFunction,
} from '../framework/cluster-event.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';

/** Whether a change helps a pod that a plug-in has refused. A new object has no `before`, a deleted one no `after`. */
type Helps<T> = (pod: ReadablePod, before: T | undefined, after: T | undefined) => boolean;

/** Any such change may help. */
export function on(resource: EventResource, ...actions: readonly EventAction[]): ClusterEventWithHint {
  return { event: { resource, actions } };
}

export function onNodes(actions: readonly EventAction[], helps: Helps<ReadableNode>): ClusterEventWithHint {
  return { event: { resource: 'nodes', actions }, hint: hintOf(helps) };
}

export function onPods(actions: readonly EventAction[], helps: Helps<ReadablePod>): ClusterEventWithHint {
  return { event: { resource: 'pods', actions }, hint: hintOf(helps) };
}

export function onObjects<T extends KubernetesObject>(
  resource: EventResource,
  actions: readonly EventAction[],
  helps: Helps<DeepReadonly<T>>,
): ClusterEventWithHint {
  return { event: { resource, actions }, hint: hintOf(helps) };
}

/** The queue hands a plug-in the objects of the resource that it registered for. */
function hintOf<T>(helps: Helps<T>): QueueingHintFunction {
  return (pod, before, after) =>
    helps(pod, before as T | undefined, after as T | undefined) ? 'Queue' : 'QueueSkip';
}

/** Whether the change is of the waiting pod itself. */
export function isSamePod(pod: ReadablePod, other: ReadablePod | undefined): boolean {
  return other !== undefined && pod.metadata.uid === other.metadata.uid;
}

export function isOnNode(pod: ReadablePod | undefined): boolean {
  return Boolean(pod?.spec.nodeName);
}
