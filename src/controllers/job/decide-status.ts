import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { EventNote, Job } from '@rollkeeper/runtime';
import { findCondition } from '@rollkeeper/runtime';
import type { CountedPods } from './count-pods.js';
import type { JobEnd } from './decide-end.js';
import { isSuspended } from './job-pods.js';
import type { JobView } from './view-job.js';

type Status = NonNullable<Job['status']>;
type JobCondition = NonNullable<Status['conditions']>[number];

/** The pods left after this sync has created and deleted. */
export interface LeftPods {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

interface StatusDecision {
  readonly status: Status;
  /** Recorded once the status is stored. */
  readonly events: readonly EventNote[];
}

interface Observed {
  readonly view: JobView;
  readonly left: LeftPods;
  readonly counted: CountedPods;
  readonly end: JobEnd | undefined;
  readonly nowMs: number;
}

/** The new status of a Job, and its events. */
export function decideStatus({ counted, end, left, nowMs, view }: Observed): StatusDecision {
  const { job } = view;
  const conditions = new Conditions(job.status?.conditions ?? [], nowMs);
  const events: EventNote[] = [];
  let { completionTime, startTime } = job.status ?? {};
  if (!isSuspended(job)) startTime ??= toRfc3339(nowMs);
  if (end) {
    conditions.set(end.type, 'True', end.reason, end.message);
    // The condition follows only when every pod is counted and has ended. Clients can then rely on it.
    if (counted.isComplete && left.active + left.terminating === 0) {
      const isSuccess = end.type === 'SuccessCriteriaMet';
      conditions.set(isSuccess ? 'Complete' : 'Failed', 'True', end.reason, end.message);
      if (isSuccess) completionTime = toRfc3339(nowMs);
      events.push(...endEvents(view, end));
    }
  } else if (job.metadata.deletionTimestamp === undefined) {
    const change = isSuspended(job)
      ? conditions.set('Suspended', 'True', 'JobSuspended', 'Job suspended') && 'Suspended'
      : conditions.set('Suspended', 'False', 'JobResumed', 'Job resumed') && 'Resumed';
    if (change) events.push({ type: 'Normal', reason: change, message: `Job ${change.toLowerCase()}` });
    // The deadline starts here.
    if (change === 'Resumed') startTime = toRfc3339(nowMs);
    if (isSuspended(job)) startTime = undefined;
  }
  return {
    status: { ...shownCounts(counted, left), startTime, completionTime, conditions: conditions.list },
    events,
  };
}

/** As the genuine server shows them: zero counts are omitted, except those known to be zero. */
function shownCounts({ counters }: CountedPods, { active, ready, terminating }: LeftPods): Status {
  const { completedIndexes, failed, succeeded, ...others } = counters;
  return {
    ...others,
    ...(active > 0 && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
    ready,
    terminating,
  };
}

function endEvents({ job, succeeded }: JobView, { message, reason, type }: JobEnd): EventNote[] {
  if (type === 'FailureTarget') return [{ type: 'Warning', reason, message }];
  const completed: EventNote = { type: 'Normal', reason: 'Completed', message: 'Job completed' };
  const { completions = Infinity } = job.spec;
  if (succeeded <= completions) return [completed];
  const surplus = 'Too many succeeded pods running after completion count reached';
  return [{ type: 'Warning', reason: 'TooManySucceededPods', message: surplus }, completed];
}

/** Conditions of a Job have a separate probe time, which only changes with the rest. */
class Conditions {
  list: JobCondition[];

  constructor(
    before: readonly JobCondition[],
    private readonly nowMs: number,
  ) {
    this.list = [...before];
  }

  /** Returns whether something changed. A new condition with status False is no change. */
  set(type: string, status: 'True' | 'False', reason: string, message: string): boolean {
    const old = findCondition(this.list, type);
    if (old ? old.status === status && old.reason === reason && old.message === message : status === 'False')
      return false;
    const now = toRfc3339(this.nowMs);
    const next = { type, status, reason, message, lastProbeTime: now, lastTransitionTime: now };
    this.list = old ? this.list.map((each) => (each === old ? next : each)) : [...this.list, next];
    return true;
  }
}
