import type { Priority, ReconcileReason, WorkQueue } from './work-queue.js';

/**
 * A key that failed too often, or in a way that no retry cures. A person or a new change takes it out and gives it all its
 * retries again. Unless a person parked it, it is tried once every `parkedRetryMs` as well, since what stood in its way (a
 * quota, a webhook) may have gone without any change of the object.
 */
export interface ParkedKey {
  readonly key: string;
  readonly error: string;
  readonly retries: number;
  /** Epoch milliseconds. */
  readonly parkedAtMs: number;
  /** Epoch milliseconds; absent: not tried until somebody takes it out. */
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
  /** Failures in a row before. */
  readonly failures: number;
}

/** What is in a queue, for people. Taken in several reads, so it is not a snapshot. */
export interface WorkQueueView {
  /** Longest waiting first. A key that is being worked on is here if it is to run again afterwards. */
  readonly waiting: readonly WaitingKey[];
  /** Soonest first. */
  readonly delayed: readonly DelayedKey[];
  /** Longest parked first. */
  readonly parked: readonly ParkedKey[];
}

/** What a queue knows of one key. */
export interface KeyView {
  readonly failures: number;
  /** Whether a run of it is due or under way. */
  readonly hasJob: boolean;
  readonly waiting?: WaitingKey;
  readonly delayed?: DelayedKey;
  readonly parked?: ParkedKey;
}

/** How people and metrics look at a queue. Changes nothing, and rejects when the queue cannot be reached. */
export interface WorkQueueInspector {
  counts(): Promise<WorkQueueCounts>;
  parked(): Promise<readonly ParkedKey[]>;
  /** At most `limit` keys of each kind. */
  inspect(limit: number): Promise<WorkQueueView>;
  inspectKey(key: string): Promise<KeyView>;
}

/** What a person may do with a key: run it now (`add`), set it aside (`park`), or drop it (`purge`). */
export interface WorkQueueTending extends Pick<WorkQueue, 'add' | 'park'> {
  /**
   * Forgets all about the key: waiting, delayed, parked, failures. A run under way goes on. The next change of the
   * object brings it back. Returns whether anything was known.
   */
  purge(key: string): Promise<boolean>;
}
