import { findCondition, isConditionTrue } from '@rollkeeper/runtime';
import { toDouble } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { parseTimeMs } from '../shared/index.js';
import { judgeFailure } from './failure-policy.js';
import { parseIndexes } from './index-list.js';
import type { ReadableJob, ReadablePod } from './job-pods.js';
import { hasFailed, isSuspended } from './job-pods.js';
import type { JobView } from './view-job.js';

/** Why a Job is over. Its pods are stopped and counted before the Complete or Failed condition is set. */
export interface JobEnd {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

/** Whether the Job has a final condition: nothing will change any more. */
export function isJobFinished({ status }: ReadableJob): boolean {
  return isConditionTrue(status?.conditions, 'Complete') || isConditionTrue(status?.conditions, 'Failed');
}

/**
 * Whether the Job is over, by its status or by one of its limits. Reaching all completions is decided later, see
 * {@link reachedCompletions}: only once nothing runs any more. Source: `syncJob` in k/k pkg/controller/job.
 */
export function decideEnd(view: JobView, nowMs: number): JobEnd | undefined {
  const { failed, indexes, job, pods } = view;
  const { backoffLimit = 6, completions = 0, maxFailedIndexes } = job.spec;
  const told = endInStatus(job);
  if (told) return told;
  const message = jobFailureOf(job, pods);
  if (message !== undefined) return failure('PodFailurePolicy', message);
  if (failed > backoffLimit || restartsExceed(job, pods, backoffLimit))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  if ((msUntilDeadline(job, nowMs) ?? 1) <= 0)
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  const failedIndexes = indexes?.failed?.size ?? 0;
  if (maxFailedIndexes !== undefined && failedIndexes > maxFailedIndexes)
    return failure(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    );
  if (failedIndexes > 0 && failedIndexes + (indexes?.succeeded.size ?? 0) >= completions)
    return failure('FailedIndexes', 'Job has failed indexes');
  return metSuccessPolicy(view);
}

/** Remaining time of the Job, milliseconds; undefined if unlimited or suspended. */
export function msUntilDeadline(job: ReadableJob, nowMs: number): number | undefined {
  const { activeDeadlineSeconds: seconds }: { readonly activeDeadlineSeconds?: Int64 } = job.spec;
  const startedMs = parseTimeMs(job.status?.startTime);
  if (seconds === undefined || startedMs === undefined || isSuspended(job)) return undefined;
  return startedMs + toDouble(seconds) * 1000 - nowMs;
}

/**
 * A Job without a number of completions is over when one pod has succeeded and the others have ended.
 * @param active pods left after this sync
 */
export function reachedCompletions({ job, succeeded }: JobView, active: number): JobEnd | undefined {
  if (active > 0 || succeeded < (job.spec.completions ?? 1)) return undefined;
  return {
    type: 'SuccessCriteriaMet',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  };
}

function failure(reason: string, message: string): JobEnd {
  return { type: 'FailureTarget', reason, message };
}

function endInStatus({ status }: ReadableJob): JobEnd | undefined {
  for (const type of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    if (!isConditionTrue(status?.conditions, type)) continue;
    const { message = '', reason = '' } = findCondition(status?.conditions, type) ?? {};
    return { type, reason, message };
  }
  return undefined;
}

function jobFailureOf(job: ReadableJob, pods: readonly ReadablePod[]): string | undefined {
  if (!job.spec.podFailurePolicy) return undefined;
  for (const pod of pods) {
    const { message } = hasFailed(pod, job) ? judgeFailure(job, pod) : {};
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Containers restarted in place fail without their pod. */
function restartsExceed(job: ReadableJob, pods: readonly ReadablePod[], limit: number): boolean {
  if (job.spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Source: k/k pkg/controller/job/success_policy.go. */
function metSuccessPolicy({ indexes, job }: JobView): JobEnd | undefined {
  const { completions = 0, successPolicy } = job.spec;
  for (const [at, { succeededCount, succeededIndexes }] of (successPolicy?.rules ?? []).entries()) {
    const succeeded = indexes?.succeeded ?? new Set();
    const wanted = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes, completions);
    const reached = wanted ? [...wanted].filter((index) => succeeded.has(index)).length : succeeded.size;
    if (reached < (succeededCount ?? wanted?.size ?? completions)) continue;
    return {
      type: 'SuccessCriteriaMet',
      reason: 'SuccessPolicy',
      message: `Matched rules at index ${at}`,
    };
  }
  return undefined;
}
