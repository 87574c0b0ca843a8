import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';

/** When pods are replaced, on a Deployment, as a default on its Namespace, or on a ReplicaSet without a Deployment. */
export const POD_REPLACEMENT = 'rollkeeper.dev/pod-replacement';
/** The same on a ReplicaSet of a Deployment, kept up to date by the Deployment controller. */
export const POD_REPLACEMENT_OF_OWNER = 'rollkeeper.dev/pod-replacement-of-owner';
/** Replacements start when the pods that they replace have ended. */
export const TERMINATED = 'terminated';
/** When a new pod takes the place of an old one: when that begins to end, or when it has ended. */
export const POD_REPLACEMENTS = ['started', TERMINATED] as const;
export type PodReplacement = (typeof POD_REPLACEMENTS)[number];

/** Whether a ReplicaSet replaces a pod only once that has ended. */
export function replacesAfterEnd(replicaSet: DeepReadonly<ReplicaSet>): boolean {
  const name = controllerOf(replicaSet) ? POD_REPLACEMENT_OF_OWNER : POD_REPLACEMENT;
  return replicaSet.metadata.annotations?.[name] === TERMINATED;
}
