import type {
  DeepReadonly,
  OwnerReference,
  PodTemplateSpec,
  ReplicaSet,
  ReplicaSetSpec,
  ReplicaSetStatus,
} from '@rollkeeper/machinery/kubernetes';
import type { RolloutRules } from './rollout-rules.js';

/**
 * A ReplicaSet as a pass would leave it. Mutable parts are copies of the observed object, which stays unchanged; the
 * status is always the observed one, because only the ReplicaSet controller knows the state of the pods.
 */
export interface ReplicaSetDraft {
  readonly name: string;
  /** Absent for one that this pass creates. */
  readonly observed?: DeepReadonly<ReplicaSet>;
  /** Labels, selector and template of one that this pass creates; otherwise the observed ones, but see `giveTemplate`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: DeepReadonly<ReplicaSetSpec['selector']>;
  template: DeepReadonly<PodTemplateSpec>;
  readonly status: DeepReadonly<Partial<ReplicaSetStatus>>;
  replicas: number;
  minReadySeconds: number;
  annotations: Record<string, string>;
  /** Written together with the next other change. */
  laterAnnotations?: Record<string, string>;
  ownerReferences: readonly DeepReadonly<OwnerReference>[];
  deleted: boolean;
}

/** The ReplicaSets with a size above zero. */
export function activeOf(replicaSets: readonly ReplicaSetDraft[]): ReplicaSetDraft[] {
  return replicaSets.filter((replicaSet) => replicaSet.replicas > 0);
}

/** The sum of the sizes. */
export function totalReplicas(replicaSets: readonly ReplicaSetDraft[]): number {
  return replicaSets.reduce((sum, replicaSet) => sum + replicaSet.replicas, 0);
}

/** Oldest first, one created in this pass last; by name if created in the same second. */
export function byCreation(a: ReplicaSetDraft, b: ReplicaSetDraft): number {
  if (!a.observed !== !b.observed) return a.observed ? -1 : 1;
  const createdA = a.observed?.metadata.creationTimestamp ?? '';
  const createdB = b.observed?.metadata.creationTimestamp ?? '';
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * Whether the status has observed the size from before this pass. If not, its pods may be different by now: after 1 → 0
 * → 1 it can still report an available pod that is being deleted.
 */
export function isObserved({ observed, status }: ReplicaSetDraft): boolean {
  return observed !== undefined && (observed.metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
}

/** Whether the ReplicaSet controller has observed the whole current spec, including this pass. */
export function isUpToDate(replicaSet: ReplicaSetDraft): boolean {
  return isObserved(replicaSet) && replicaSet.replicas === (replicaSet.observed?.spec.replicas ?? 1);
}

/** The draft of a ReplicaSet before anything is decided. */
export function draftOf(
  observed: DeepReadonly<ReplicaSet>,
  ownerReferences: readonly DeepReadonly<OwnerReference>[],
): ReplicaSetDraft {
  return {
    name: observed.metadata.name,
    observed,
    labels: observed.metadata.labels ?? {},
    selector: observed.spec.selector,
    template: observed.spec.template ?? {},
    status: observed.status ?? {},
    replicas: observed.spec.replicas ?? 1,
    minReadySeconds: observed.spec.minReadySeconds ?? 0,
    annotations: { ...observed.metadata.annotations },
    ownerReferences,
    deleted: false,
  };
}

/** The pods that are known to be available; none while the status is outdated. */
export function available(replicaSet: ReplicaSetDraft, { floor }: Pick<RolloutRules, 'floor'>): number {
  return floor && !isObserved(replicaSet) ? 0 : (replicaSet.status.availableReplicas ?? 0);
}

export function sumAvailable(
  replicaSets: readonly ReplicaSetDraft[],
  rules: Pick<RolloutRules, 'floor'>,
): number {
  return replicaSets.reduce((sum, replicaSet) => sum + available(replicaSet, rules), 0);
}

/**
 * The available pods that will remain, regardless of the ReplicaSet controller's latest actions: while a ReplicaSet
 * shrinks, its status still counts pods being deleted. Growing again in this pass does not bring them back.
 */
export function lastingAvailable(replicaSet: ReplicaSetDraft, rules: Pick<RolloutRules, 'floor'>): number {
  const known = available(replicaSet, rules);
  if (!rules.floor) return known;
  return Math.min(known, replicaSet.replicas, replicaSet.observed?.spec.replicas ?? 1);
}
