import type {
  DeepReadonly,
  KubernetesObject,
  LabelSelector,
  Pod,
  PodTemplateSpec,
} from '@rollkeeper/machinery/kubernetes';
import type { ControllerRevision } from '../shared/index.js';

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
  readonly isTerminating: boolean;
}
