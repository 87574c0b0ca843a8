import { findCondition } from './conditions.js';
import { ownField } from './json-values.js';

interface PodState {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

/** Whether the pod has finished: phase Succeeded or Failed. */
export function isPodFinished({ status }: Pick<PodState, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether the pod is being deleted and has not finished yet (Kubernetes' `IsPodTerminating`). */
export function isPodTerminating(pod: PodState): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** Whether the pod counts as a replica: neither finished nor being deleted (`IsPodActive`). */
export function isPodActive(pod: PodState): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Annotation of the pods that a kubelet shows for those it runs from its own files; nothing but the kubelet ends them. */
export const MIRROR_POD = 'kubernetes.io/config.mirror';

export function isMirrorPod({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): boolean {
  return metadata.annotations?.[MIRROR_POD] !== undefined;
}

export function isPodReady(pod: Pick<PodState, 'status'>): boolean {
  return readyConditionOf(pod)?.status === 'True';
}

/** The condition `Ready` of a pod or a node. */
export function readyConditionOf<Condition extends { readonly type?: string }>({
  status,
}: {
  readonly status?: { readonly conditions?: readonly Condition[] };
}): Condition | undefined {
  return findCondition(status?.conditions, 'Ready');
}

/**
 * The value of a pod's annotation for one container: `NAME.CONTAINER` takes precedence over `NAME`, which applies to
 * all of them.
 */
export function containerAnnotation(
  { annotations = {} }: { readonly annotations?: Readonly<Record<string, string>> | undefined },
  name: string,
  container: string,
): string | undefined {
  return ownField(annotations, `${name}.${container}`) ?? ownField(annotations, name);
}
