import type { DeepReadonly, Int64 } from '@rollkeeper/machinery/kubernetes';
import { toDouble } from '@rollkeeper/machinery/kubernetes';
import type { CronJob } from '@rollkeeper/runtime';
import { parseTimeMs } from '../shared/index.js';
import type { Schedule } from './schedule.js';

/** The start that the schedule requires now. */
type StartDecision =
  | { readonly kind: 'wait' }
  /** Epoch milliseconds. */
  | { readonly kind: 'start'; readonly atMs: number; readonly manyMissed: boolean }
  /** The start is too long overdue. */
  | { readonly kind: 'too-late'; readonly atMs: number; readonly manyMissed: boolean };

/** After this many missed starts there may be very many, for example because of a wrong clock. */
const MANY = 100;
/** Added to the time, so that a slightly fast clock is not early. */
const MARGIN_MS = 100;

type ReadableCronJob = DeepReadonly<CronJob>;

/**
 * Whether a job is due: of all missed starts, only the most recent. Source: `syncCronJob` in k/k
 * pkg/controller/cronjob.
 */
export function decideStart(cronJob: ReadableCronJob, schedule: Schedule, nowMs: number): StartDecision {
  const deadlineMs = deadlineOf(cronJob);
  const lastMs = lastKnownMs(cronJob);
  const sinceMs = deadlineMs === undefined ? lastMs : Math.max(lastMs, nowMs - deadlineMs);
  const { atMs, missed } = lastMissed(schedule, sinceMs, nowMs);
  if (atMs === undefined || atMs === parseTimeMs(cronJob.status?.lastScheduleTime)) return { kind: 'wait' };
  const isTooLate = deadlineMs !== undefined && atMs + deadlineMs < nowMs;
  return { kind: isTooLate ? 'too-late' : 'start', atMs, manyMissed: missed > MANY };
}

/** Delay until the next look, milliseconds; undefined if there is nothing to wait for. */
export function msUntilNextStart(schedule: Schedule, nowMs: number): number | undefined {
  const nextMs = schedule.next(nowMs);
  return nextMs === undefined ? undefined : nextMs + MARGIN_MS - nowMs;
}

function lastKnownMs({ metadata, status }: ReadableCronJob): number {
  return parseTimeMs(status?.lastScheduleTime) ?? parseTimeMs(metadata.creationTimestamp) ?? 0;
}

function deadlineOf({ spec }: ReadableCronJob): number | undefined {
  const { startingDeadlineSeconds: seconds }: { readonly startingDeadlineSeconds?: Int64 } = spec;
  return seconds === undefined ? undefined : toDouble(seconds) * 1000;
}

/**
 * The most recent start until now, and an estimate of the number of missed ones: computed from the interval between the
 * first two, so that years of missed minutes cost a few steps. Source: `mostRecentScheduleTime` in k/k
 * pkg/controller/cronjob.
 */
function lastMissed(schedule: Schedule, sinceMs: number, nowMs: number): { atMs?: number; missed: number } {
  const first = schedule.next(sinceMs);
  if (first === undefined || first > nowMs) return { missed: 0 };
  const second = schedule.next(first);
  if (second === undefined || second > nowMs) return { atMs: first, missed: 1 };
  const missed = Math.floor((nowMs - first) / (second - first)) + 1;
  let atMs: number | undefined;
  let next = schedule.next(first + (missed - 2) * (second - first));
  while (next !== undefined && next <= nowMs) {
    atMs = next;
    next = schedule.next(next);
  }
  return { atMs: atMs ?? second, missed };
}
