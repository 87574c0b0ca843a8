import type {
  DeepReadonly,
  KubernetesObject,
  LabelSelector,
  Pod,
  PodTemplateSpec,
} from '@rollkeeper/machinery/kubernetes';
import { isPodReady, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { ControllerRevision } from '../shared/index.js';
import { isPodAvailable, msUntilPodAvailable } from '../shared/index.js';

export type ReadableRevision = DeepReadonly<ControllerRevision>;
export type ReadablePod = DeepReadonly<Pod>;

/** A StatefulSet or a DaemonSet, as far as its rollout goes. */
export type SetObject = KubernetesObject & {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly minReadySeconds?: number;
  };
};

/** A set with its revisions and its pods, as one pass sees them. */
export interface SetView {
  readonly kind: 'StatefulSet' | 'DaemonSet';
  readonly set: DeepReadonly<SetObject>;
  /** The pods that are wanted. */
  readonly replicas: number;
  /** The revision of the template that the set asks for, by name. */
  readonly update: string;
  /** The revision that the pods outside of the update have, by name. */
  readonly current: string;
  /** How many pods the update has been given: those that are replaced by it, whether or not they have been yet. */
  readonly given: number;
  readonly revisions: readonly ReadableRevision[];
  readonly pods: readonly SetPod[];
}

/** A pod of a set. */
export interface SetPod {
  readonly pod: ReadablePod;
  /** The name of its revision; empty if it has none of those that are kept. */
  readonly revision: string;
  readonly isReady: boolean;
  readonly isAvailable: boolean;
  /** In how many milliseconds it is available if it stays ready. @default it is, or is not ready */
  readonly availableInMs?: number;
  readonly isTerminating: boolean;
}

/** A pod of a revision, as a pass at `nowMs` sees it. */
export function seenPod(pod: ReadablePod, revision: string, minReadySeconds: number, nowMs: number): SetPod {
  const availableInMs = msUntilPodAvailable(pod, minReadySeconds, nowMs) ?? 0;
  return {
    ...{ pod, revision, isReady: isPodReady(pod), isTerminating: isTerminating(pod) },
    isAvailable: isPodAvailable(pod, minReadySeconds, nowMs),
    ...(availableInMs > 0 && { availableInMs }),
  };
}
