import type { Priority, ReconcileReason, WorkQueue } from './work-queue.js';

/**
 * A key that failed too often, or in a way that no retry resolves. A person or a new change unparks it with all its
 * retries. Unless a person parked it, it is also retried every `parkedRetryMs`: the obstacle (a quota, a webhook) may
 * have been removed without any change of the object.
 */
export interface ParkedKey {
  readonly key: string;
  readonly error: string;
  readonly retries: number;
  /** Epoch milliseconds. */
  readonly parkedAtMs: number;
  /** Epoch milliseconds; absent: not retried until it is unparked. */
  readonly nextTryMs?: number;
}

export interface WorkQueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly parked: number;
}

/** A key whose run has not started. */
export interface WaitingKey {
  readonly key: string;
  readonly priority: Priority;
  readonly reason: ReconcileReason;
  /** Epoch milliseconds, when it became ready to run. */
  readonly sinceMs: number;
}

/** A key that comes back later. */
export interface DelayedKey {
  readonly key: string;
  /** Epoch milliseconds of its next run. */
  readonly dueMs: number;
  readonly reason?: ReconcileReason;
  /** Consecutive failures so far. */
  readonly failures: number;
}

/** The content of a queue, for display. Taken in several reads, so it is not a snapshot. */
export interface WorkQueueView {
  /** Longest waiting first. Includes a key in progress if it is to run again afterwards. */
  readonly waiting: readonly WaitingKey[];
  /** Soonest first. */
  readonly delayed: readonly DelayedKey[];
  /** Longest parked first. */
  readonly parked: readonly ParkedKey[];
}

/** The state of one key in a queue. */
export interface KeyView {
  readonly failures: number;
  /** Whether a run of it is due or in progress. */
  readonly hasJob: boolean;
  readonly waiting?: WaitingKey;
  readonly delayed?: DelayedKey;
  readonly parked?: ParkedKey;
}

/** Read access to a queue for people and metrics. Changes nothing, and rejects if the queue cannot be reached. */
export interface WorkQueueInspector {
  counts(): Promise<WorkQueueCounts>;
  parked(): Promise<readonly ParkedKey[]>;
  /** At most `limit` keys of each kind. */
  inspect(limit: number): Promise<WorkQueueView>;
  inspectKey(key: string): Promise<KeyView>;
}

/** Manual operations on a key: run it now (`add`), set it aside (`park`), or drop it (`purge`). */
export interface WorkQueueTending extends Pick<WorkQueue, 'add' | 'park'> {
  /**
   * Drops all state of the key: waiting, delayed, parked, failures. A run in progress continues. The next change of the
   * object brings the key back. Returns whether the key was known.
   */
  purge(key: string): Promise<boolean>;
}
