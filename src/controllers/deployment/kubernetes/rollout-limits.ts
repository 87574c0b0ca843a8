import type { PodDisruptionBudget } from '@rollkeeper/runtime';
import type { AnnotationRules } from './annotations.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';

/** How many pods a rollout may take from a ReplicaSet. A change of `replicas` is no rollout, and does not ask. */
export interface ShrinkLimit {
  /** The size nearest to `wanted` that a ReplicaSet may shrink to; what is asked for is taken with it. */
  allow(set: ReplicaSetDraft, wanted: number): number;
  /** Whether all of these may be scaled to zero; if not, nothing is taken. */
  allowsNone(sets: readonly ReplicaSetDraft[]): boolean;
  /** The annotations that are written to a ReplicaSet with its new size. */
  annotate(set: ReplicaSetDraft): Record<string, string>;
  /** The writes that come before any ReplicaSet shrinks. */
  readonly writes: readonly PodDisruptionBudget[];
}

/** Notes each size of a ReplicaSet on it, in the write that sets the size. */
export interface SizeNotes {
  readonly annotation: string;
  /**
   * The value of the annotation in each of several writes.
   * @param sizes of the writes, in order
   * @returns undefined if nothing was noted
   */
  readonly ofWrites: (
    replicaSet: ReplicaSetDraft,
    sizes: readonly { readonly from: number; readonly to: number }[],
  ) => readonly string[] | undefined;
}

/** The limits that the policies set the steps. Without any of it they are exactly Kubernetes' own. */
export interface RolloutLimits {
  /** How large the new ReplicaSet may become; the others keep what it may not have. @default `replicas` */
  readonly most?: number;
  /** How many pods above `replicas` the new ReplicaSet may keep, for pods whose eviction was requested. @default 0 */
  readonly surge?: number;
  /** How many pods below the floor a rollout may take, because new pods find no room beside the old ones. @default 0 */
  readonly lent?: number;
  /** How small a rollout may make one of the others. @default 0 */
  readonly leastOld?: (replicaSet: ReplicaSetDraft) => number;
  /** The ReplicaSets of versions that failed: a change of size must not give them more pods. */
  readonly mayNotGrow?: ReadonlySet<ReplicaSetDraft>;
  /**
   * The ReplicaSets that keep all of `replicas` beside the new one; of the others, what the floor does not need goes at once.
   * @default pods are replaced one after the other
   */
  readonly keptWhole?: ReadonlySet<ReplicaSetDraft>;
  /** The size of one of these, where it needs less than all of `replicas`. @default `replicas` */
  readonly keptSize?: (replicaSet: ReplicaSetDraft) => number;
  /** The version that failed rollouts go back to, which is not deleted with the history. */
  readonly keptForRollback?: ReplicaSetDraft;
  /** The Service that sends its requests to one of the ReplicaSets alone. */
  readonly servedBy?: { readonly service: string };
  readonly shrinkLimit?: ShrinkLimit;
  /**
   * The most pods that a ReplicaSet can have, those that are ending included; undefined while it is not known. Then nothing grows beyond
   * the ceiling less these. @default pods that are ending take no room
   */
  readonly podsOccupiedBy?: (replicaSet: ReplicaSetDraft) => number | undefined;
  /** A Recreate does not wait for pods that are ending. */
  readonly startsBesideEnding?: boolean;
  /** Whether a version proved good: a rollout that is held keeps the newest of these. @default none did */
  readonly isGood?: (replicaSet: ReplicaSetDraft) => boolean;
  /** @default annotations go as in Kubernetes */
  readonly annotationRules?: AnnotationRules;
  /** @default sizes are not noted */
  readonly sizeNotes?: SizeNotes;
}

/** Both together: the narrower of two numbers, and all of two sets. Of what cannot be put together, the later counts. */
export function mergeLimits(limits: RolloutLimits, more: RolloutLimits): RolloutLimits {
  const given = Object.fromEntries(Object.entries(more).filter(([, limit]) => limit !== undefined));
  return {
    ...limits,
    ...(given as RolloutLimits),
    ...bothOf(limits.most, more.most, (a, b) => ({ most: Math.min(a, b) })),
    ...bothOf(limits.surge, more.surge, (a, b) => ({ surge: Math.max(a, b) })),
    ...bothOf(limits.leastOld, more.leastOld, (a, b) => ({ leastOld: (set) => Math.max(a(set), b(set)) })),
    ...bothOf(limits.mayNotGrow, more.mayNotGrow, (a, b) => ({ mayNotGrow: new Set([...a, ...b]) })),
    ...bothOf(limits.keptWhole, more.keptWhole, (a, b) => ({ keptWhole: new Set([...a, ...b]) })),
  };
}

function bothOf<Limit>(
  one: Limit | undefined,
  other: Limit | undefined,
  merge: (one: Limit, other: Limit) => RolloutLimits,
): RolloutLimits {
  return one === undefined || other === undefined ? {} : merge(one, other);
}
