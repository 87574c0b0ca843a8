import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { Job } from '@rollkeeper/runtime';
import { parseTimeMs } from '../shared/index.js';

export type ReadableJob = DeepReadonly<Job>;
export type ReadablePod = DeepReadonly<Pod>;

/** Finalizer: keeps a pod until its end has been counted in the status of its Job. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** Label and annotation: the completion index of a pod of an Indexed Job. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** Annotation: number of earlier failures of this index. */
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
/** The same for failures that the failure policy ignores. */
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isIndexed({ spec }: ReadableJob): boolean {
  return spec.completionMode === 'Indexed';
}

export function isSuspended({ spec }: ReadableJob): boolean {
  return spec.suspend === true;
}

/** Whether terminating pods are not replaced yet, and have not failed yet. */
export function replacesOnlyFailed({ spec }: ReadableJob): boolean {
  return spec.podReplacementPolicy === 'Failed';
}

export function isTracked({ metadata }: ReadablePod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** Undefined for an index beyond the Job's completions. */
export function completionIndexOf({ metadata }: ReadablePod, { spec }: ReadableJob): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? '';
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < (spec.completions ?? 0) ? index : undefined;
}

/** Whether the pod's result counts: in an Indexed Job only with a valid completion index. */
export function counts(pod: ReadablePod, job: ReadableJob): boolean {
  return !isIndexed(job) || completionIndexOf(pod, job) !== undefined;
}

export function hasSucceeded({ status }: ReadablePod): boolean {
  return status?.phase === 'Succeeded';
}

/** A deleted pod may never report how it ended, so it counts as failed, unless the Job waits for that. */
export function hasFailed(pod: ReadablePod, job: ReadableJob): boolean {
  if (isPodFinished(pod)) return !hasSucceeded(pod);
  return pod.metadata.deletionTimestamp !== undefined && !replacesOnlyFailed(job);
}

/** Failures of the pod's index including this pod, counted and ignored. */
export function failuresOfIndex({ metadata }: ReadablePod): { counted: number; ignored: number } {
  const read = (name: string): number => Number.parseInt(metadata.annotations?.[name] ?? '0', 10) || 0;
  return { counted: read(INDEX_FAILURES), ignored: read(INDEX_IGNORED_FAILURES) };
}

/**
 * When the pod ended, epoch milliseconds: by its last container, otherwise by its other times. Source: getFinishedTime
 * in k/k pkg/controller/job/backoff_utils.go.
 */
export function endedAtMs({ metadata, status }: ReadablePod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) =>
    parseTimeMs(state?.terminated?.finishedAt),
  );
  const known = ends.filter((end) => end !== undefined);
  if (known.length > 0 && known.length === ends.length) return Math.max(...known);
  const notReady = status?.conditions?.find(({ status: is, type }) => type === 'Ready' && is === 'False');
  const notReadySince = parseTimeMs(notReady?.lastTransitionTime);
  if (notReadySince !== undefined) return notReadySince;
  const { creationTimestamp, deletionGracePeriodSeconds = 0, deletionTimestamp } = metadata;
  const deletedMs = parseTimeMs(deletionTimestamp);
  if (deletedMs !== undefined) return deletedMs - toDouble(deletionGracePeriodSeconds) * 1000;
  return parseTimeMs(creationTimestamp) ?? 0;
}
