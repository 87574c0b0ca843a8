import { counted } from '@rollkeeper/machinery/text';
import { CronJob, Job } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { compileSchedule } from '@rollkeeper/controllers/cronjob/schedule';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { Event, isControlledBy, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, listed, warningsAbout } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableCronJob = DeepReadonly<CronJob>;

/** Warnings of the controller about the schedule itself. */
const SCHEDULE_WARNINGS: ReadonlySet<string> = new Set([
  'UnParseableCronJobSchedule',
  'UnknownTimeZone',
  'TooManyMissedTimes',
  'MissSchedule',
  'FailedCreate',
]);

/** CronJobs: whether it starts, and how its last Jobs ended. */
export const cronJobDiagnosis: KindDiagnosis<CronJob> = {
  type: CronJob,
  aliases: ['cj'],
  needs: (namespace) => inNamespace([Job, Event], namespace),
  judge(cronJob, snapshot, nowMs): Verdict {
    const { schedule, suspend, timeZone } = cronJob.spec;
    const { active = [], lastScheduleTime } = cronJob.status ?? {};
    const when = `schedule ${schedule}${timeZone === undefined ? '' : ` (${timeZone})`}`;
    const last = lastScheduleTime === undefined ? 'not started yet' : `last started ${lastScheduleTime}`;
    const good = {
      state: 'healthy',
      sentence: `${when}, ${last}, ${counted(active.length, 'Job')} running`,
    } as const;
    const deletion = deletionFindings(cronJob, 'its Jobs');
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    if (suspend) return { findings: [], good: { state: 'paused', sentence: `it is suspended; ${last}` } };
    return {
      good,
      findings: [
        ...neverFindings(cronJob, nowMs),
        ...scheduleFindings(cronJob, snapshot, nowMs),
        ...lastJobFinding(cronJob, snapshot),
        ...concurrencyFinding(cronJob),
      ],
      bad: 'degraded',
    };
  },
};

/** A schedule may be valid and have no time, such as 31 February; with a deadline of 0 s each start is too late. */
function neverFindings({ spec }: ReadableCronJob, nowMs: number): DiagnosisFinding[] {
  const { schedule, startingDeadlineSeconds: deadline, timeZone = 'UTC' } = spec;
  if (deadline !== undefined && toDouble(deadline) === 0)
    return [
      never('startingDeadlineSeconds is 0, so each start is too late', [
        'set spec.startingDeadlineSeconds to 10 or more, or remove it',
      ]),
    ];
  try {
    if (compileSchedule(schedule, timeZone).next(nowMs) !== undefined) return [];
    return [
      never(`its schedule ${schedule} has no time in the coming years`, [
        'correct the day and the month in spec.schedule, or set spec.suspend to true',
      ]),
    ];
  } catch (error) {
    return [
      {
        cause: 'schedule-invalid',
        severity: 'blocked',
        summary: `it never starts: its schedule ${schedule} (${timeZone}) cannot be read: ${errorMessage(error)}`,
        unblockedBy: ['correct spec.schedule or spec.timeZone'],
      },
    ];
  }
}

function never(why: string, unblockedBy: readonly string[]): DiagnosisFinding {
  return { cause: 'schedule-never', severity: 'blocked', summary: `it never starts: ${why}`, unblockedBy };
}

function scheduleFindings(cronJob: ReadableCronJob, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  return warningsAbout(snapshot, cronJob, nowMs)
    .filter(({ reason }) => SCHEDULE_WARNINGS.has(reason))
    .map(({ message, reason, since }) => ({
      cause: /UnParseable|UnknownTimeZone/.test(reason) ? 'schedule-invalid' : 'schedule-missed',
      severity: 'blocked',
      summary: `${reason}: ${message}`,
      ...(since !== undefined && { since }),
      unblockedBy: [
        reason === 'TooManyMissedTimes'
          ? 'set spec.startingDeadlineSeconds, so that only recent times count as missed'
          : 'correct spec.schedule, spec.timeZone or spec.startingDeadlineSeconds',
      ],
    }));
}

function lastJobFinding(cronJob: ReadableCronJob, snapshot: Snapshot): DiagnosisFinding[] {
  const jobs = snapshot
    .list<Job>(Job, cronJob.metadata.namespace)
    .filter((job) => isControlledBy(job, cronJob))
    .toSorted((a, b) => startOf(b).localeCompare(startOf(a)));
  const ended = jobs.find(({ status }) =>
    status?.conditions?.some(({ type }) => type === 'Complete' || type === 'Failed'),
  );
  const failure = ended?.status?.conditions?.find(
    ({ status, type }) => type === 'Failed' && status === 'True',
  );
  if (!ended || !failure) return [];
  const { name, namespace } = ended.metadata;
  return [
    {
      cause: 'job-failed',
      severity: 'blocked',
      summary: `its last Job ${name} failed: ${failure.reason ?? 'Failed'}${failure.message ? ` (${failure.message})` : ''}`,
      ...(failure.lastTransitionTime !== undefined && { since: failure.lastTransitionTime }),
      objects: [{ kind: 'Job', name, ...(namespace !== undefined && { namespace }) }],
      unblockedBy: [`find the cause with kubectl logs job/${name}, and correct the template`],
    },
  ];
}

function concurrencyFinding({ spec, status }: ReadableCronJob): DiagnosisFinding[] {
  const active = status?.active ?? [];
  if (spec.concurrencyPolicy !== 'Forbid' || active.length === 0) return [];
  return [
    {
      cause: 'running',
      severity: 'note',
      summary: `no Job starts while ${listed(active.map(({ name }) => name ?? ''))} runs (concurrencyPolicy Forbid)`,
      unblockedBy: ['wait for that Job to end'],
    },
  ];
}

function startOf({ metadata, status }: DeepReadonly<Job>): string {
  return status?.startTime ?? metadata.creationTimestamp ?? '';
}
