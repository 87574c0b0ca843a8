import type { Job } from '@rollkeeper/runtime';
import { isIgnored } from './failure-policy.js';
import { formatIndexes, parseIndexes } from './index-list.js';
import type { ReadableJob, ReadablePod } from './job-pods.js';
import { completionIndexOf, counts, hasFailed, hasSucceeded, isTracked } from './job-pods.js';
import type { JobEnd } from './decide-end.js';
import type { JobView } from './view-job.js';

type Status = NonNullable<Job['status']>;

/** The counters of a Job's status, and the pods that may be released once these are stored. */
export interface CountedPods {
  readonly counters: Pick<
    Status,
    'succeeded' | 'failed' | 'uncountedTerminatedPods' | 'completedIndexes' | 'failedIndexes'
  >;
  /** Counted already, or need not be. */
  readonly release: readonly ReadablePod[];
  /** Whether all pods have been counted. */
  readonly isComplete: boolean;
}

/** Limit of pod UIDs in the status. */
const MAX_UNCOUNTED = 500;

/**
 * Counts each pod exactly once, even after failures in between: an ended pod's UID is recorded in the status, then its
 * finalizer is removed, then, seen without it, the UID is replaced by a count. For an Indexed Job, successes are
 * identified by index. Source: `trackJobStatusAndRemoveFinalizers` in k/k pkg/controller/job.
 * @param end the Job is over: running pods are being stopped, and count as failed unless the Job has succeeded
 */
export function countPods(view: JobView, end: JobEnd | undefined): CountedPods {
  const { job, pods } = view;
  const { uncountedTerminatedPods: uncounted = {} } = job.status ?? {};
  const tracked = pods.filter(isTracked);
  const waiting = new Set(tracked.map(({ metadata }) => metadata.uid));
  const settle = (uids: readonly string[] = []) => {
    const open = uids.filter((uid) => waiting.has(uid));
    return { open: new Set(open), settled: uids.length - open.length };
  };
  const succeeded = settle(uncounted.succeeded);
  const failed = settle(uncounted.failed);
  const completed = view.indexes && completedBefore(job);
  const release: ReadablePod[] = [];
  for (const pod of tracked) {
    if (Math.max(succeeded.open.size + failed.open.size, release.length) >= MAX_UNCOUNTED) break;
    if (!mayBeReleased(pod, view, end)) continue;
    release.push(pod);
    if (!counts(pod, job)) continue;
    const uid = pod.metadata.uid ?? '';
    if (hasSucceeded(pod) && !failed.open.has(uid)) {
      if (completed) completed.add(completionIndexOf(pod, job) ?? 0);
      else succeeded.open.add(uid);
    } else if (failsNow(pod, job, end)) failed.open.add(uid);
  }
  return {
    counters: {
      succeeded: completed?.size ?? (job.status?.succeeded ?? 0) + succeeded.settled,
      failed: (job.status?.failed ?? 0) + failed.settled,
      uncountedTerminatedPods: uidLists(succeeded.open, failed.open),
      ...(completed && { completedIndexes: formatIndexes(completed) }),
      ...(view.indexes?.failed && { failedIndexes: formatIndexes(view.indexes.failed) }),
    },
    release,
    isComplete: release.length === 0 && succeeded.open.size + failed.open.size === 0,
  };
}

function completedBefore({ spec, status }: ReadableJob): Set<number> {
  return parseIndexes(status?.completedIndexes ?? '', spec.completions ?? 0);
}

function mayBeReleased(pod: ReadablePod, { indexes, job }: JobView, end: JobEnd | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || end || hasSucceeded(pod)) return true;
  if (!hasFailed(pod, job)) return false;
  // Its replacement needs the failure count of the index.
  const index = completionIndexOf(pod, job);
  return index === undefined || indexes?.toReplace.get(index)?.metadata.uid !== pod.metadata.uid;
}

function failsNow(pod: ReadablePod, job: ReadableJob, end: JobEnd | undefined): boolean {
  if (!hasFailed(pod, job) && end?.type !== 'FailureTarget') return false;
  return !isIgnored(job, pod);
}

function uidLists(succeeded: ReadonlySet<string>, failed: ReadonlySet<string>) {
  return {
    ...(succeeded.size > 0 && { succeeded: [...succeeded] }),
    ...(failed.size > 0 && { failed: [...failed] }),
  };
}
