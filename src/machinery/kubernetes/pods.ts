import { ownField } from './json-values.js';

interface PodState {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}

/** Whether the pod has ended for good: phase Succeeded or Failed. */
export function isPodFinished({ status }: Pick<PodState, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether the pod is being deleted and has not ended yet (Kubernetes' `IsPodTerminating`). */
export function isPodTerminating(pod: PodState): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** Whether the pod counts towards the wanted number: neither ended nor being deleted (`IsPodActive`). */
export function isPodActive(pod: PodState): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
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
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** What an annotation of a pod says of one of its containers: `NAME.CONTAINER` goes before `NAME`, which is for all of them. */
export function containerAnnotation(
  { annotations = {} }: { readonly annotations?: Readonly<Record<string, string>> | undefined },
  name: string,
  container: string,
): string | undefined {
  return ownField(annotations, `${name}.${container}`) ?? ownField(annotations, name);
}
