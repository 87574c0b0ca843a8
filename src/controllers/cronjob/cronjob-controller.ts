import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy, newControllerRef, writableCopy } from '@rollkeeper/machinery/kubernetes';
import type { EventNote, ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import {
  CronJob,
  Job,
  isAlreadyExists,
  isNamespaceTerminating,
  typeMeta,
  updateStatus,
} from '@rollkeeper/runtime';
import { isJobFinished } from '../job/decide-end.js';
import { clusterController, unlessGone } from '../shared/index.js';
import type { JobReference } from './decide-jobs.js';
import { decideHistory, decideJobs, referenceTo } from './decide-jobs.js';
import { decideStart, msUntilNextStart } from './decide-start.js';
import type { Schedule } from './schedule.js';
import { compileSchedule, inTimeZone } from './schedule.js';

/** Annotation of a job: its scheduled time. */
const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** kube-controller-manager uses its own, which is nearly always this one. */
const DEFAULT_TIME_ZONE = 'UTC';

type ReadableCronJob = DeepReadonly<CronJob>;
type Sync = ReconcileContext<CronJob>;

/**
 * Starts jobs by the clock, one job for each scheduled time even after retries: the time is in the job's name. Source:
 * k/k pkg/controller/cronjob.
 */
export const cronJobController = clusterController<CronJob>({
  name: 'cronjob',
  for: CronJob,
  owns: [Job],
  async reconcile(_request, sync) {
    return sync.object ? new CronJobSync(sync.object, sync).run() : {};
  },
});

class CronJobSync {
  private active: readonly JobReference[] = [];
  private lastScheduleTime: string | undefined;

  constructor(
    private readonly cronJob: ReadableCronJob,
    private readonly sync: Sync,
  ) {
    this.lastScheduleTime = cronJob.status?.lastScheduleTime;
  }

  async run(): Promise<ReconcileResult> {
    const { cronJob, sync } = this;
    const jobs = sync.owned(Job);
    const { active, events, lastSuccessfulTime } = decideJobs(cronJob, jobs);
    this.active = active;
    for (const note of events) sync.events.record(cronJob, note);
    for (const job of decideHistory(cronJob, jobs)) await this.deleteJob(job.metadata);
    // The status of existing jobs is also updated if a new one cannot be created.
    const [followed] = await Promise.allSettled([this.follow()]);
    await updateStatus(sync.client, CronJob, cronJob, {
      ...(this.active.length > 0 && { active: [...this.active] }),
      lastScheduleTime: this.lastScheduleTime,
      lastSuccessfulTime,
    });
    if (followed.status === 'rejected') throw followed.reason;
    return followed.value;
  }

  /** Follows the schedule. */
  private async follow(): Promise<ReconcileResult> {
    const { cronJob, sync } = this;
    const { metadata, spec } = cronJob;
    if (metadata.deletionTimestamp !== undefined || spec.suspend) return {};
    const schedule = this.schedule();
    if (!schedule) return {};
    const nowMs = sync.clock.now();
    const decision = decideStart(cronJob, schedule, nowMs);
    if (decision.kind !== 'wait') {
      if (decision.manyMissed)
        this.tell(
          'Warning',
          'TooManyMissedTimes',
          'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
        );
      if (decision.kind === 'start') await this.start(decision.atMs);
      else
        this.tell(
          'Warning',
          'MissSchedule',
          `Missed scheduled time to start a job: ${toRfc3339(decision.atMs)}`,
        );
    }
    return { requeueAfterMs: msUntilNextStart(schedule, nowMs) };
  }

  private schedule(): Schedule | undefined {
    const { schedule, timeZone } = this.cronJob.spec;
    try {
      return compileSchedule(schedule, timeZone ?? DEFAULT_TIME_ZONE);
    } catch (error) {
      // The server usually refuses an unparseable schedule.
      const message = `unparseable schedule: "${schedule}" : ${errorMessage(error)}`;
      this.tell('Warning', 'UnParseableCronJobSchedule', message);
      return undefined;
    }
  }

  private async start(atMs: number): Promise<void> {
    const { concurrencyPolicy } = this.cronJob.spec;
    const name = `${this.cronJob.metadata.name}-${Math.floor(atMs / 60_000)}`;
    if (this.active.some((each) => each.name === name)) return;
    if (concurrencyPolicy === 'Forbid' && this.active.length > 0) {
      this.tell(
        'Normal',
        'JobAlreadyActive',
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      );
      return;
    }
    if (concurrencyPolicy === 'Replace') for (const job of this.active) await this.deleteJob(job);
    const job = await this.createJob(name, atMs);
    if (!job) return;
    if (!isJobFinished(job)) this.active = [...this.active, referenceTo(job)];
    this.lastScheduleTime = toRfc3339(atMs);
  }

  /** Returns undefined if the namespace is terminating, or another controller's job has the name. */
  private async createJob(name: string, atMs: number): Promise<Job | undefined> {
    const { cronJob, sync } = this;
    const { namespace } = cronJob.metadata;
    try {
      const job = await sync.client.create(Job, jobFromTemplate(cronJob, name, atMs));
      this.tell('Normal', 'SuccessfulCreate', `Created job ${name}`);
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        // Created by an earlier sync that did not record it.
        const job = await sync.client.get<Job>(Job, { namespace, name });
        return isControlledBy(job, cronJob) ? job : undefined;
      }
      this.tell('Warning', 'FailedCreate', `Error creating job: ${errorMessage(error)}`);
      throw error;
    }
  }

  private async deleteJob({ name = '', uid = '' }: DeepReadonly<JobReference>): Promise<void> {
    const { namespace } = this.cronJob.metadata;
    const options = { preconditions: { uid }, propagationPolicy: 'Background' } as const;
    await unlessGone(this.sync.client.delete(Job, { namespace, name }, options));
    this.active = this.active.filter((each) => each.uid !== uid);
    this.tell('Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  }

  private tell(type: EventNote['type'], reason: string, message: string): void {
    this.sync.events.record(this.cronJob, { type, reason, message });
  }
}

function jobFromTemplate(cronJob: ReadableCronJob, name: string, atMs: number): Job {
  const { jobTemplate, timeZone = DEFAULT_TIME_ZONE } = cronJob.spec;
  const { metadata, spec } = writableCopy<CronJob['spec']['jobTemplate']>(jobTemplate);
  return {
    ...typeMeta(Job),
    metadata: {
      name,
      namespace: cronJob.metadata.namespace,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [SCHEDULED_AT]: inTimeZone(atMs, timeZone) },
      ownerReferences: [newControllerRef(cronJob)],
    },
    spec: spec as Job['spec'],
  };
}
