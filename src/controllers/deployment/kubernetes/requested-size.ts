import type { RolloutDraft } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';

/** A size that a policy asks for once the syncs rest. */
export interface SizeRequest {
  /** The only ReplicaSet that has pods. */
  readonly replicaSet: ReplicaSetDraft;
  readonly size: number;
  /** Annotations that are written with the size. @default none */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Sets the size, which is never below `replicas`, and grows to at most `replicas` and the surge of the limits.
 *
 * 10 replicas with a surge of 2: a request for 12 is met, one for 14 gives 12, one for 9 gives 10.
 */
export function setRequestedSize(draft: RolloutDraft, { annotations, replicaSet, size }: SizeRequest): void {
  const most = Math.max(replicaSet.replicas, draft.replicas + (draft.limits.surge ?? 0));
  draft.scale(replicaSet, Math.max(draft.replicas, Math.min(size, most)));
  if (annotations) draft.annotate(replicaSet, { ...replicaSet.annotations, ...annotations });
}
