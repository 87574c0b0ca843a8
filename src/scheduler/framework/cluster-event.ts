import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ViewedResource } from './cluster-view.js';
import type { ReadablePod } from './node-info.js';

/** The resource that changed, in the terms of kube-scheduler's `ClusterEvent`. */
export type EventResource = ViewedResource | 'nodes' | 'pods' | '*';

/**
 * How it changed. Updates name what is different, so that a label's change wakes no pod that waits for memory.
 * `assigned-…` are of pods that are on a node.
 */
export type EventAction =
  | 'add'
  | 'delete'
  | 'update'
  | 'update-node-allocatable'
  | 'update-node-labels'
  | 'update-node-taints'
  | 'update-node-conditions'
  | 'update-node-annotations'
  | 'update-node-declared-features'
  | 'update-pod-labels'
  | 'update-pod-scale-down'
  | 'update-pod-tolerations'
  | 'update-pod-scheduling-gates-eliminated'
  | 'update-pod-generated-resource-claim';

/** A change that a refused pod may be helped by. */
export interface ClusterEvent {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
}

/** `Queue`: this change may make the pod schedulable. `QueueSkip`: it cannot. */
export type QueueingHint = 'Queue' | 'QueueSkip';

/** @throws anything: it counts as `Queue` */
export type QueueingHintFunction = (
  pod: ReadablePod,
  before: DeepReadonly<KubernetesObject> | undefined,
  after: DeepReadonly<KubernetesObject> | undefined,
) => QueueingHint;

/** An event that may let a pod in, and whether it may for a given pod. */
export interface ClusterEventWithHint {
  readonly event: ClusterEvent;
  /** @default always `Queue` */
  readonly hint?: QueueingHintFunction;
}
