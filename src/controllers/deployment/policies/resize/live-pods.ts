import type { ApiClient } from '@rollkeeper/runtime';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Pod, isControlledBy, selectorText } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';

/** The pods of a ReplicaSet as the API has them, in whole. */
export interface LivePods {
  /** Its name. */
  readonly of: string;
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** Whether the Deployment, or its Namespace, asks for resizes at all. */
export function mayResize(own: Annotations | undefined, namespace: Annotations | undefined): boolean {
  const name = annotationOf('resize');
  return (own?.[name] ?? namespace?.[name] ?? '') !== '';
}

/** The pods of a ReplicaSet, in whole. One request, in each pass that a resize needs. */
export async function readLivePods(
  client: ApiClient,
  replicaSet: DeepReadonly<ReplicaSet>,
  signal: AbortSignal,
): Promise<LivePods> {
  const { name, namespace } = replicaSet.metadata;
  const labelSelector = selectorText(replicaSet.spec.selector);
  const { items } = await client.list<Pod>(Pod, { namespace, labelSelector, signal });
  return { of: name, pods: items.filter((pod) => isControlledBy(pod, replicaSet)) };
}
