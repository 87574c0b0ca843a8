import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { Job } from '@rollkeeper/runtime';
import { parseTimeMs } from '../shared/index.js';

export type ReadableJob = DeepReadonly<Job>;
export type ReadablePod = DeepReadonly<Pod>;

/** Holds a pod until its end has been counted in the status of its Job. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** Label and annotation: which completion of an Indexed Job the pod works on. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** Annotation: how often pods of this index have failed before this one. */
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
/** The same of failures that the failure policy ignores. */
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isIndexed({ spec }: ReadableJob): boolean {
  return spec.completionMode === 'Indexed';
}

export function isSuspended({ spec }: ReadableJob): boolean {
  return spec.suspend === true;
}

/** Whether pods that only terminate are not replaced yet, and have not failed yet. */
export function replacesOnlyFailed({ spec }: ReadableJob): boolean {
  return spec.podReplacementPolicy === 'Failed';
}

export function isTracked({ metadata }: ReadablePod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** Undefined for what the Job has no completion for. */
export function completionIndexOf({ metadata }: ReadablePod, { spec }: ReadableJob): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? '';
  if (!/^\d{1,10}$/.test(text)) return undefined;
  const index = Number(text);
  return index < (spec.completions ?? 0) ? index : undefined;
}

/** Whether what comes of the pod counts: in an Indexed Job only where it works on one of the completions. */
export function counts(pod: ReadablePod, job: ReadableJob): boolean {
  return !isIndexed(job) || completionIndexOf(pod, job) !== undefined;
}

export function hasSucceeded({ status }: ReadablePod): boolean {
  return status?.phase === 'Succeeded';
}

/** A pod that is deleted may never come to say how it ended, so it has failed, unless the Job wants to wait for that. */
export function hasFailed(pod: ReadablePod, job: ReadableJob): boolean {
  if (isPodFinished(pod)) return !hasSucceeded(pod);
  return pod.metadata.deletionTimestamp !== undefined && !replacesOnlyFailed(job);
}

/** How often pods of its index have failed, up to this one, whether that counts or not. */
export function failuresOfIndex({ metadata }: ReadablePod): { counted: number; ignored: number } {
  const read = (name: string): number => Number.parseInt(metadata.annotations?.[name] ?? '0', 10) || 0;
  return { counted: read(INDEX_FAILURES), ignored: read(INDEX_IGNORED_FAILURES) };
}

/**
 * When the pod ended, epoch milliseconds: by its last container, or else by what else it tells.
 * Source: getFinishedTime in k/k pkg/controller/job/backoff_utils.go.
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
