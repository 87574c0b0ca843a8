import { isPodActive, isPodTerminating } from '@rollkeeper/machinery/kubernetes';
import { isIgnored, judgeFailure } from './failure-policy.js';
import { parseIndexes } from './index-list.js';
import type { ReadableJob, ReadablePod } from './job-pods.js';
import {
  completionIndexOf,
  counts,
  endedAtMs,
  failuresOfIndex,
  hasFailed,
  hasSucceeded,
  isIndexed,
  isTracked,
} from './job-pods.js';

/** A Job and its pods as one sync sees them. */
export interface JobView {
  readonly job: ReadableJob;
  /** All of its own, including ended ones. */
  readonly pods: readonly ReadablePod[];
  readonly active: readonly ReadablePod[];
  readonly terminating: number;
  /** Completions reached, including those not in the status yet. */
  readonly succeeded: number;
  /** Counted failures, likewise. */
  readonly failed: number;
  /** The indexes of an Indexed Job. */
  readonly indexes?: IndexView;
}

interface IndexView {
  readonly succeeded: ReadonlySet<number>;
  /** The failed indexes of a Job with a `backoffLimitPerIndex`. */
  readonly failed?: ReadonlySet<number>;
  /**
   * Also with a `backoffLimitPerIndex`: the last failed pod of each index that waits for its replacement, which
   * continues its count.
   */
  readonly toReplace: ReadonlyMap<number, ReadablePod>;
}

export function viewJob(job: ReadableJob, pods: readonly ReadablePod[]): JobView {
  const { failed = 0, succeeded = 0, uncountedTerminatedPods: uncounted = {} } = job.status ?? {};
  // A pod without the finalizer has been counted.
  const open = pods.filter((pod) => isTracked(pod) && counts(pod, job));
  const isNew = (of: readonly string[] = []) => {
    const known = new Set(of);
    return ({ metadata }: ReadablePod) => !known.has(metadata.uid ?? '');
  };
  const newlyFailed = open
    .filter((pod) => hasFailed(pod, job) && !isIgnored(job, pod))
    .filter(isNew(uncounted.failed));
  const indexes = isIndexed(job) ? viewIndexes(job, pods, open) : undefined;
  const newlySucceeded = open.filter(hasSucceeded).filter(isNew(uncounted.succeeded));
  return {
    job,
    pods,
    active: pods.filter(isPodActive),
    terminating: pods.filter(isPodTerminating).length,
    succeeded:
      indexes?.succeeded.size ?? succeeded + (uncounted.succeeded?.length ?? 0) + newlySucceeded.length,
    failed: failed + (uncounted.failed?.length ?? 0) + newlyFailed.length,
    ...(indexes && { indexes }),
  };
}

function viewIndexes(
  job: ReadableJob,
  pods: readonly ReadablePod[],
  open: readonly ReadablePod[],
): IndexView {
  const { backoffLimitPerIndex: limit, completions = 0 } = job.spec;
  const indexOf = (pod: ReadablePod): number => completionIndexOf(pod, job) ?? -1;
  const succeeded = parseIndexes(job.status?.completedIndexes ?? '', completions);
  for (const pod of open) if (hasSucceeded(pod)) succeeded.add(indexOf(pod));
  if (limit === undefined) return { succeeded, toReplace: new Map() };
  const failed = parseIndexes(job.status?.failedIndexes ?? '', completions);
  const failedPods = open.filter((pod) => hasFailed(pod, job));
  for (const pod of failedPods) if (endsIndex(job, pod, limit)) failed.add(indexOf(pod));
  for (const index of succeeded) failed.delete(index);
  const settled = new Set([...succeeded, ...failed, ...pods.filter(isPodActive).map(indexOf)]);
  const toReplace = new Map<number, ReadablePod>();
  for (const pod of failedPods) {
    const index = indexOf(pod);
    const other = toReplace.get(index);
    if (!settled.has(index) && (!other || isLater(pod, other))) toReplace.set(index, pod);
  }
  return { succeeded, failed, toReplace };
}

/** Whether the index of this pod gets no further pod. */
function endsIndex(job: ReadableJob, pod: ReadablePod, limit: number): boolean {
  const { action } = judgeFailure(job, pod);
  return action === 'FailIndex' || (action !== 'Ignore' && failuresOfIndex(pod).counted >= limit);
}

function isLater(pod: ReadablePod, other: ReadablePod): boolean {
  const failures = (each: ReadablePod): number => {
    const { counted, ignored } = failuresOfIndex(each);
    return counted + ignored;
  };
  const more = failures(pod) - failures(other);
  return more === 0 ? endedAtMs(pod) > endedAtMs(other) : more > 0;
}
