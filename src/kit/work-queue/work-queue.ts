import type { EarlyAcquisition, ResourceVersions } from '../actor/actor.js';

/** Why a key was added; goes to spans and metrics, never to the reconciler. */
export type ReconcileReason =
  | 'user-change'
  | 'child-change'
  | 'initial-list'
  | 'resync'
  | 'requeue'
  | 'retry'
  /** The one try that a parked key has now and then; see {@link ParkedKey}. */
  | 'parked'
  | 'replay'
  | 'sweep';

/** `high`: a person changed something. `low`: initial list and resync. Aging lets nothing starve. */
export type Priority = 'high' | 'normal' | 'low';

export interface AddOptions {
  /** @default 'normal' */
  priority?: Priority;
  /** @default 'child-change' */
  reason?: ReconcileReason;
  /** W3C `traceparent` of the change that caused the add. */
  traceparent?: string;
  /** Those of changes that were merged into this add already. */
  links?: readonly string[];
}

/** How a key that failed comes back. */
export interface RetryOptions extends AddOptions {
  /** Not before so long, milliseconds, however short its backoff is. @default 0 */
  leastDelayMs?: number;
}

/** Adds that became one run are remembered up to this many: a flood of changes must not grow what waits. */
export const MAX_TRACE_LINKS = 16;

/** A key handed to a worker. */
export interface WorkItem {
  readonly key: string;
  /** How often this key failed in a row before this run. */
  readonly retries: number;
  readonly reason: ReconcileReason;
  readonly priority: Priority;
  /** Wall clock, epoch milliseconds, when the key became ready to run. */
  readonly readySinceMs: number;
  readonly traceparent?: string;
  /** The `traceparent`s of other adds that became this run, the first {@link MAX_TRACE_LINKS} of them. */
  readonly links?: readonly string[];
  /** The lock of the key's actor, where it was asked for in the same step. */
  readonly early?: EarlyAcquisition;
}

/**
 * A key that failed too often, or in a way that no retry cures. A person or a new change takes it out, with all its retries;
 * besides it has one try every `parkedRetryMs`, since what stood in its way (a quota, a webhook) may have gone without any
 * change of its own, unless a person parked it.
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

/** One term of one leader: what the effects of leading are fenced with. */
export interface LeaderTerm {
  /** Grows from term to term. */
  readonly epoch: number;
  /** Unique to one life of one process: should a store lose its last writes, an epoch may be given twice. */
  readonly holder: string;
}

/** The adds of one term. Each is refused with SupersededError, without any effect, once the queue's term is another. */
export type LeaderAdds = Pick<WorkQueue, 'add' | 'addWithCauses'>;

/** What is in a queue, for people; taken in several reads, so not of one instant. */
export interface WorkQueueView {
  /** Longest waiting first. A key that runs at the moment waits here for the run after. */
  readonly waiting: readonly WaitingKey[];
  /** Soonest first. */
  readonly delayed: readonly DelayedKey[];
  /** Longest parked first. */
  readonly parked: readonly ParkedKey[];
}

/** What a queue knows of one key. */
export interface KeyView {
  readonly failures: number;
  /** It is about to run, or runs. */
  readonly hasJob: boolean;
  readonly waiting?: WaitingKey;
  readonly delayed?: DelayedKey;
  readonly parked?: ParkedKey;
}

/**
 * The producer's side of a queue of keys, shared by all replicas. client-go's contract:
 *
 * 1. A key is never worked on twice at the same time, on any replica.
 * 2. A key added while it waits is kept once; added while it is worked on, it runs once more afterwards. An add
 *    that resolved is never lost, short of a loss of Redis.
 * 3. An immediate add never waits behind a delayed add or a backoff of the same key.
 * 4. `addRateLimited` waits the longer of the per-key exponential backoff and the global token bucket.
 * 5. Of several pending delayed adds of one key, the earliest counts.
 * 6. After `maxRetries` rate-limited adds in a row the key is parked instead; a new `add` takes it out again.
 * 7. An add of a leader is judged by its term in the same step in which it happens.
 *
 * All methods reject when Redis cannot be reached within the operation's timeout; callers retry, nothing is swallowed.
 */
export interface WorkQueue {
  readonly name: string;
  add(key: string, options?: AddOptions): Promise<void>;
  /**
   * In one step: an add, and the record for the key's actor of what the run must have seen. Absent where they are not
   * kept on one server.
   */
  readonly addWithCauses?: (key: string, causes: ResourceVersions, options?: AddOptions) => Promise<void>;
  /**
   * Makes `term` the one whose adds count: once this has resolved, an add of any other is refused, however late it
   * comes. Of adds under no term (by whoever works on keys, by people) nothing is asked. May be repeated.
   * @throws SupersededError when a newer term, or the same epoch of another holder, has begun; tells which epoch
   */
  beginTerm(term: LeaderTerm): Promise<LeaderAdds>;
  addAfter(key: string, delayMs: number, options?: AddOptions): Promise<void>;
  /** Returns whether the key was parked instead of delayed. */
  addRateLimited(
    key: string,
    error: unknown,
    options?: RetryOptions,
  ): Promise<{ parked: boolean; delayMs: number }>;
  /**
   * Parks at once: what no retry cures.
   * @param tryWith of the try that it has every `parkedRetryMs`; absent: none
   */
  park(key: string, error: unknown, tryWith?: AddOptions): Promise<void>;
  /** Resets the key's backoff. */
  forget(key: string): Promise<void>;
  numRequeues(key: string): Promise<number>;
  counts(): Promise<WorkQueueCounts>;
  parked(): Promise<readonly ParkedKey[]>;
  /** At most `limit` keys of each kind. */
  inspect(limit: number): Promise<WorkQueueView>;
  inspectKey(key: string): Promise<KeyView>;
  /**
   * Forgets all about the key: waiting, delayed, parked, failures. A run under way goes on. The next change of the
   * object brings it back. Returns whether anything was known.
   */
  purge(key: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Handles one key. The queue neither retries nor forgets by itself: the controller decides by the outcome. A handler
 * that rejects has decided nothing, so that its key is worked on again: with backoff, or at once when it was
 * cancelled. Work that ended after its signal had aborted for a lost key counts for nothing either.
 */
export type WorkHandler = (item: WorkItem, signal: AbortSignal) => Promise<void>;

/** The consumer's side, one per replica and queue. */
export interface WorkQueueConsumer {
  /**
   * Works with at most `concurrency` keys at once until aborted, then takes no new key, waits for the running
   * handlers and resolves. A handler's signal aborts when its hold on the key is lost, or `drainTimeoutMs` after
   * the abort. May be run again after it has ended.
   * @throws IllegalStateError while it runs
   */
  run(handler: WorkHandler, options: { concurrency: number }, signal: AbortSignal): Promise<void>;
  /** Whether keys are being taken at this moment. */
  readonly isConsuming: boolean;
}
