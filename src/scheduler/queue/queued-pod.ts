import type { ReadablePod } from '../framework/node-info.js';
import type { QueuedPod } from '../framework/plugin.js';
import type { Refusal } from './decide-requeue.js';

/** A pod of the queue, or of an attempt. Replaced as a whole, never changed in place. */
export interface QueueEntry extends QueuedPod, Refusal {
  /** The pod's UID. */
  readonly key: string;
  /** Monotonic: when it was put into the queue, at first or after its last attempt. */
  readonly enteredMs: number;
  /** Monotonic: when it first came. */
  readonly createdMs: number;
  /** Attempts that ended in a refusal; they decide its backoff. */
  readonly refusals: number;
  /** Attempts in a row that failed by an error. */
  readonly errors: number;
  /** Monotonic: until when it is held back; 0 before the first attempt. */
  readonly backoffUntilMs: number;
  /** The plug-in that keeps it from being tried at all. */
  readonly gatedBy?: string;
}

const NONE: ReadonlySet<string> = new Set();

export interface Instant {
  /** Since the epoch. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function newEntry(pod: ReadablePod, { monotonicMs, wallMs }: Instant): QueueEntry {
  return {
    pod,
    key: queueKeyOf(pod),
    since: wallMs,
    attempts: 0,
    enteredMs: monotonicMs,
    createdMs: monotonicMs,
    refusals: 0,
    errors: 0,
    backoffUntilMs: 0,
    refusedBy: NONE,
    pendingOn: NONE,
  };
}

/** A UID, so that a pod and one that takes its name later are two. */
export function queueKeyOf({ metadata: { name, namespace = '', uid } }: ReadablePod): string {
  return uid ?? `${namespace}/${name}`;
}

interface Backoffs {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** How an attempt failed: refused by plug-ins, or by an error. */
export type FailedAttempt = { readonly error: true } | ({ readonly error?: undefined } & Refusal);

/** The entry after an attempt that came to nothing. Source: `AddUnschedulableIfNotPresent` and `calculateBackoffDuration` in k/k. */
export function afterAttempt(
  entry: QueueEntry,
  pod: ReadablePod,
  failed: FailedAttempt,
  { monotonicMs, wallMs }: Instant,
  { initialMs, maxMs }: Backoffs,
): QueueEntry {
  const [refusals, errors] = failed.error ? [entry.refusals, entry.errors + 1] : [entry.refusals + 1, 0];
  const count = errors > 0 ? errors : refusals;
  // Pods that wait for something under way are not at fault: they do not wait longer than that.
  const isHeld = failed.error === true || failed.refusedBy.size > 0;
  const delayMs = isHeld ? Math.min(initialMs * 2 ** Math.min(count - 1, 30), maxMs) : 0;
  return {
    ...entry,
    pod,
    refusals,
    errors,
    since: wallMs,
    enteredMs: monotonicMs,
    backoffUntilMs: monotonicMs + delayMs,
    refusedBy: failed.error ? NONE : failed.refusedBy,
    pendingOn: failed.error ? NONE : failed.pendingOn,
  };
}
