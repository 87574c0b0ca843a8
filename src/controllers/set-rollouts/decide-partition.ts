/** The value of a partition at which no pod is of the update, also if the set grows. int32. */
export const HELD = 2 ** 31 - 1;

/** A pod of a StatefulSet, as far as its place goes. */
export interface PlacedPod {
  readonly name: string;
  /** Its place, from 0: its ordinal less the first one. */
  readonly index: number;
  /** The name of its revision. */
  readonly revision: string;
  readonly isAvailable: boolean;
  readonly isTerminating: boolean;
}

/** A StatefulSet, and how far its policies let the rollout go. */
export interface PartitionView {
  readonly replicas: number;
  /** The partition as it is, and as the set's controller has observed it. */
  readonly partition: number;
  /** `status.currentRevision` and `status.updateRevision`. */
  readonly current: string;
  readonly update: string;
  /** The revision that the policies choose. */
  readonly runs: string;
  /** How many pods of the update there may be. */
  readonly most: number;
  /** The revisions that have failed, and that no policy chooses. */
  readonly failed: ReadonlySet<string>;
  /** The revisions that have proved good. */
  readonly good: ReadonlySet<string>;
  readonly pods: readonly PlacedPod[];
}

/** The partition that lets the rollout go so far, and the pod that the set's controller would not replace by itself. */
export interface PartitionDecision {
  readonly partition: number;
  /** The name of a pod to delete, so that it is recreated. */
  readonly replace?: string;
}

/**
 * The partition of a StatefulSet: pods below it keep the revision that the set had before the update, and are recreated from
 * that one. At rest, and on the way back, it is {@link HELD}, so that no change of the template begins before it has been seen.
 *
 * The set's controller takes no pod back that has been updated, and waits for a pod that does not become ready even if its
 * template was corrected (kubernetes/kubernetes#67250). Such pods are replaced here: one at a time, the last one first, those
 * that are not available before others.
 *
 * 10 replicas at the step of 20 %: partition 8. After a failure: {@link HELD}, and pods 9 and 8 are replaced.
 */
export function decidePartition(view: PartitionView): PartitionDecision {
  const partition = partitionOf(view);
  // Before the set's controller knows it, a pod would be recreated as it was.
  const replace = partition === view.partition ? podToReplace(view) : undefined;
  return { partition, ...(replace && { replace: replace.name }) };
}

function partitionOf(view: PartitionView): number {
  const { current, most, replicas, runs, update } = view;
  return runs !== update || update === current || most <= 0 ? HELD : Math.max(0, replicas - most);
}

function podToReplace(view: PartitionView): PlacedPod | undefined {
  const { pods, replicas } = view;
  const wanted = pods.filter(({ index }) => index >= 0 && index < replicas);
  if (wanted.some(({ isTerminating }) => isTerminating)) return undefined;
  const candidates = wanted
    .filter((pod) => mayBeReplaced(view, pod))
    .toSorted((a, b) => Number(a.isAvailable) - Number(b.isAvailable) || b.index - a.index);
  const [first] = candidates;
  if (!first?.isAvailable) return first;
  const isWhole = wanted.length === replicas && wanted.every(({ isAvailable }) => isAvailable);
  return isWhole ? first : undefined;
}

/** Whether it comes back as another version than its own, and the set's controller would not replace it. */
function mayBeReplaced({ current, failed, good, partition, update }: PartitionView, pod: PlacedPod): boolean {
  const comesBackAs = pod.index < partition ? current : update;
  if (comesBackAs === pod.revision || failed.has(comesBackAs)) return false;
  // Nothing is left that the set's controller would do.
  if (failed.has(pod.revision) || current === update) return true;
  return !pod.isAvailable && (pod.revision !== current || !good.has(pod.revision));
}
