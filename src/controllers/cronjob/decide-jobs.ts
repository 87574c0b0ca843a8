import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { CronJob, EventNote, Job } from '@rollkeeper/runtime';
import { Job as JOB, isConditionTrue } from '@rollkeeper/runtime';
import { isJobFinished } from '../job/decide-end.js';
import { parseTimeMs } from '../shared/index.js';

type ReadableCronJob = DeepReadonly<CronJob>;
type ReadableJob = DeepReadonly<Job>;
type Status = NonNullable<CronJob['status']>;
export type JobReference = NonNullable<Status['active']>[number];

/** The changes of a CronJob's jobs since its status was written. */
interface JobsDecision {
  readonly active: readonly JobReference[];
  readonly lastSuccessfulTime: string | undefined;
  readonly events: readonly EventNote[];
}

/** Records jobs that have finished, were deleted, or were created by others. */
export function decideJobs({ status }: ReadableCronJob, jobs: readonly ReadableJob[]): JobsDecision {
  const listed = status?.active ?? [];
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const isListed = new Set(listed.map(({ uid }) => uid));
  const events: EventNote[] = [];
  const active = listed.filter(({ name, uid }) => {
    const job = byUid.get(uid ?? '');
    if (job && !isJobFinished(job)) return true;
    events.push(
      job
        ? normal('SawCompletedJob', `Saw completed job: ${name}, condition: ${outcomeOf(job)}`)
        : normal('MissingJob', `Active job went missing: ${name}`),
    );
    return false;
  });
  for (const job of jobs) {
    if (isJobFinished(job) || isListed.has(job.metadata.uid)) continue;
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
    events.push({ type: 'Warning', reason: 'UnexpectedJob', message });
  }
  return { active, lastSuccessfulTime: lastSuccess(status?.lastSuccessfulTime, jobs), events };
}

/** Jobs beyond the history limits, oldest first. */
export function decideHistory(
  { spec }: ReadableCronJob,
  jobs: readonly ReadableJob[],
): readonly ReadableJob[] {
  const { failedJobsHistoryLimit = 1, successfulJobsHistoryLimit = 3 } = spec;
  const beyond = (outcome: string, limit: number): ReadableJob[] => {
    const ended = jobs.filter((job) => isJobFinished(job) && outcomeOf(job) === outcome).sort(byStart);
    return ended.slice(0, Math.max(ended.length - limit, 0));
  };
  return [...beyond('Complete', successfulJobsHistoryLimit), ...beyond('Failed', failedJobsHistoryLimit)];
}

export function referenceTo({ metadata }: ReadableJob): JobReference {
  const { name, namespace, resourceVersion, uid } = metadata;
  return { apiVersion: apiVersionOf(JOB), kind: JOB.kind, namespace, name, uid, resourceVersion };
}

function outcomeOf({ status }: ReadableJob): 'Complete' | 'Failed' {
  return isConditionTrue(status?.conditions, 'Complete') ? 'Complete' : 'Failed';
}

function lastSuccess(known: string | undefined, jobs: readonly ReadableJob[]): string | undefined {
  const ends = jobs.map(({ status }) => status?.completionTime).filter((time) => time !== undefined);
  return ends.reduce(
    (latest, time) => ((parseTimeMs(time) ?? 0) > (parseTimeMs(latest) ?? -1) ? time : latest),
    known,
  );
}

function byStart(a: ReadableJob, b: ReadableJob): number {
  const startOf = ({ status }: ReadableJob): number => parseTimeMs(status?.startTime) ?? Infinity;
  const [aMs, bMs] = [startOf(a), startOf(b)];
  if (aMs !== bMs) return aMs < bMs ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}
