import { podsToDelete } from '../shared/index.js';
import type { ReadablePod } from './job-pods.js';
import {
  completionIndexOf,
  endedAtMs,
  failuresOfIndex,
  hasFailed,
  hasSucceeded,
  isIndexed,
  isSuspended,
  replacesOnlyFailed,
} from './job-pods.js';
import type { JobView } from './view-job.js';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';

/** A pod to create: for an Indexed Job, with its completion index. */
export interface Slot {
  readonly index?: number;
}

/** The work of a Job on its pods now. */
type PodDecision =
  | { readonly kind: 'nothing' }
  /** Too many: delete these; they do not count as failed. */
  | { readonly kind: 'delete'; readonly pods: readonly ReadablePod[] }
  | { readonly kind: 'create'; readonly slots: readonly Slot[] }
  /** More are needed, but the last ones failed too recently. */
  | { readonly kind: 'back-off'; readonly forMs: number };

/** Limit of pods created or deleted in one sync. */
const MAX_AT_ONCE = 500;
const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 600_000;

/**
 * Moves the number of active pods towards `parallelism`, or the number of remaining completions. Deletions come first,
 * and alone. Source: `manageJob` in k/k pkg/controller/job.
 */
export function decidePods(view: JobView, nowMs: number): PodDecision {
  const { active, job, terminating } = view;
  if (isSuspended(job)) return active.length > 0 ? { kind: 'delete', pods: active } : { kind: 'nothing' };
  const wanted = wantedActive(view);
  const excess = excessPods(view, Math.max(active.length - wanted, 0), nowMs);
  if (excess.length > 0) return { kind: 'delete', pods: excess.slice(0, MAX_AT_ONCE) };
  const missing = wanted - active.length - (replacesOnlyFailed(job) ? terminating : 0);
  if (missing <= 0) return { kind: 'nothing' };
  return job.spec.backoffLimitPerIndex === undefined
    ? createTogether(view, missing, nowMs)
    : createByIndex(view, missing, nowMs);
}

function wantedActive({ active, job, succeeded }: JobView): number {
  const { completions, parallelism = 1 } = job.spec;
  // Once one has succeeded, running pods are left to end, and no more are created.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(Math.min(completions - succeeded, parallelism), 0);
}

/** Pods without a completion index or with a duplicate one, and as many others as needed to reach `atLeast`. */
function excessPods({ active, job }: JobView, atLeast: number, nowMs: number): readonly ReadablePod[] {
  if (atLeast === 0 && !isIndexed(job)) return [];
  const ranked = podsToDelete({ pods: active, related: [], count: active.length - 1, nowMs });
  const goers = new Set(ranked);
  const bestFirst = [...active.filter((pod) => !goers.has(pod)), ...ranked.toReversed()];
  const seen = new Set<number>();
  const surplus: ReadablePod[] = [];
  const needed: ReadablePod[] = [];
  for (const pod of bestFirst) {
    const index = completionIndexOf(pod, job);
    const isSurplus = isIndexed(job) && (index === undefined || seen.has(index));
    if (index !== undefined) seen.add(index);
    (isSurplus ? surplus : needed).push(pod);
  }
  return [...surplus, ...needed.toReversed().slice(0, Math.max(atLeast - surplus.length, 0))];
}

function createTogether(view: JobView, missing: number, nowMs: number): PodDecision {
  const forMs = backoffLeftMs(view, nowMs);
  if (forMs > 0) return { kind: 'back-off', forMs };
  const count = Math.min(missing, MAX_AT_ONCE);
  const slots = view.indexes
    ? pendingIndexes(view, count).map((index) => ({ index }))
    : Array.from({ length: count }, () => ({}));
  return slots.length > 0 ? { kind: 'create', slots } : { kind: 'nothing' };
}

/** Each index has its own backoff. */
function createByIndex(view: JobView, missing: number, nowMs: number): PodDecision {
  const waits = pendingIndexes(view, Math.min(missing, MAX_AT_ONCE)).map((index) => {
    const last = view.indexes?.toReplace.get(index);
    if (!last) return { index, leftMs: 0 };
    const { counted, ignored } = failuresOfIndex(last);
    return { index, leftMs: backoffMs(counted + ignored + 1) - (nowMs - endedAtMs(last)) };
  });
  const slots = waits.filter(({ leftMs }) => leftMs <= 0).map(({ index }) => ({ index }));
  if (slots.length > 0) return { kind: 'create', slots };
  const forMs = Math.min(...waits.map(({ leftMs }) => leftMs));
  return waits.length > 0 ? { kind: 'back-off', forMs } : { kind: 'nothing' };
}

/** The lowest unfinished indexes without an active pod. */
function pendingIndexes({ active, indexes, job, pods }: JobView, count: number): number[] {
  const isWorkedOn = replacesOnlyFailed(job)
    ? pods.filter((pod) => !hasSucceeded(pod) && !hasFailed(pod, job))
    : active;
  const taken = new Set(isWorkedOn.map((pod) => completionIndexOf(pod, job)));
  const pending: number[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && pending.length < count; index++)
    if (!taken.has(index) && !indexes?.succeeded.has(index) && !indexes?.failed?.has(index))
      pending.push(index);
  return pending;
}

/** By the failures since the last success, of the existing pods. Source: k/k pkg/controller/job/backoff_utils.go. */
function backoffLeftMs({ job, pods }: JobView, nowMs: number): number {
  const succeededMs = Math.max(0, ...pods.filter(hasSucceeded).map(endedAtMs));
  const failures = pods
    .filter((pod) => hasFailed(pod, job))
    .map(endedAtMs)
    .filter((endedMs) => endedMs > succeededMs);
  return failures.length === 0 ? 0 : backoffMs(failures.length) - (nowMs - Math.max(...failures));
}

function backoffMs(failures: number): number {
  return doublingDelayMs(failures - 1, { firstMs: FIRST_BACKOFF_MS, longestMs: MAX_BACKOFF_MS });
}
