import type { AddTraces } from './merge-traces.js';
import type { Precedence } from './precedence.js';

/** Reasons of adds by which a run requests the next one of its key. */
export const REASONS_OF_RUNS: ReadonlySet<ReconcileReason | undefined> = new Set([
  'requeue',
  'retry',
  'parked',
]);

/** Why a key was added; recorded in spans and metrics, never passed to the reconciler. */
export type ReconcileReason =
  | 'user-change'
  | 'child-change'
  | 'initial-list'
  | 'resync'
  | 'requeue'
  | 'retry'
  /** The occasional retry of a parked key; see {@link ParkedKey}. */
  | 'parked'
  | 'replay'
  | 'sweep';

/**
 * `high`: a user change; eight of them go before another key of the same namespace. `low`: initial list and resync, which
 * wait for all others, but not for ever: they age.
 */
export type Priority = 'high' | 'normal' | 'low';

/** The traces are those of the change that caused the add, and of changes merged into it. */
export interface AddOptions extends AddTraces {
  /** @default 'normal' */
  priority?: Priority;
  /** @default 'child-change' */
  reason?: ReconcileReason;
}

/** How a failed key comes back. */
export interface RetryOptions extends AddOptions {
  /** The minimum delay in milliseconds, even if the backoff is shorter. @default 0 */
  leastDelayMs?: number;
  /**
   * Unique to the failure: a call that is repeated because its answer got lost counts one failure.
   * @default each call counts one
   */
  failureId?: string;
}

/** A key handed to a worker. The traces are those of the adds that became this run. */
export interface WorkItem extends AddTraces {
  readonly key: string;
  /** Consecutive failures of this key before this run. */
  readonly retries: number;
  /** Whether an earlier run requested one that is still to come. @default false */
  readonly comesBack?: boolean;
  readonly reason: ReconcileReason;
  readonly priority: Priority;
  /** Wall clock, epoch milliseconds, when the key became ready to run. */
  readonly readySinceMs: number;
}

/** One term of one leader: fences the effects of leading. */
export interface LeaderTerm {
  /** Grows from term to term. */
  readonly epoch: number;
  /** Unique to one life of one process: a store that loses its last writes may issue an epoch twice. */
  readonly holder: string;
}

/** The adds of one term. Each is refused with SupersededError, without any effect, once the queue's term is another. */
export type LeaderAdds = Pick<WorkQueue, 'add'>;

/** A term that has begun in a queue. */
export interface BegunTerm extends LeaderAdds {
  /**
   * Resolves if the term still counts and the queue has lost nothing since it began, as far as that can be seen. A queue
   * that has lost its keys also forgets its term, and only this check or the next add would show it.
   * @throws SupersededError if the term has to begin again and every key has to be added once more
   */
  check(): Promise<void>;
}

/**
 * The producer's side of a queue of keys, shared by all replicas. client-go's contract:
 *
 * 1. A key is never processed concurrently, on any replica.
 * 2. A key added while it waits is kept once; added while it is being processed, it runs once more afterwards. An add
 *    that resolved is never lost, short of a loss of Redis.
 * 3. An immediate add never waits behind a delayed add or a backoff of the same key.
 * 4. `addRateLimited` waits the longer of the per-key exponential backoff and the global token bucket.
 * 5. Of several pending delayed adds of one key, the earliest counts.
 * 6. After `maxRetries` consecutive rate-limited adds the key is parked instead; a new `add` unparks it. A key of which a
 *    run waits is never parked, in whichever order the add and the failure come.
 * 7. Namespaces take turns: however many keys of one wait, a key of another waits for no more than its share.
 * 8. An add of a leader is checked against its term in the same step in which it happens.
 *
 * All methods reject if Redis cannot be reached within the operation's timeout; callers retry, nothing is swallowed.
 */
export interface WorkQueue {
  readonly name: string;
  add(key: string, options?: AddOptions): Promise<void>;
  /**
   * Makes `term` the one whose adds count: once this has resolved, an add of any other term is refused, however late it
   * comes. Adds without a term (by workers, by people) are not checked. May be repeated.
   * @throws SupersededError if a newer term, or the same epoch of another holder, has begun; carries that epoch
   */
  beginTerm(term: LeaderTerm): Promise<BegunTerm>;
  addAfter(key: string, delayMs: number, options?: AddOptions): Promise<void>;
  /** Returns whether the key was parked instead of delayed. Neither, if it would be parked and a run of it waits. */
  addRateLimited(
    key: string,
    error: unknown,
    options?: RetryOptions,
  ): Promise<{ parked: boolean; delayMs: number }>;
  /**
   * Parks at once, for failures that no retry resolves, unless a run of the key waits: a change has come during the run
   * that failed, and gets all its retries.
   * @param tryWith options of the retry every `parkedRetryMs`; absent: no retry
   * @returns whether the key was parked
   */
  park(key: string, error: unknown, tryWith?: AddOptions): Promise<{ parked: boolean }>;
  /**
   * A run of the key has succeeded: resets its backoff, and drops later runs requested by earlier runs (`requeue`,
   * `retry`, the retry of a parked key). Delayed adds of changes stay.
   */
  forget(key: string): Promise<void>;
  numRequeues(key: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Handles one key. The queue neither retries nor forgets by itself: the controller decides by the outcome. If a handler
 * rejects, nothing was decided and the key is processed again: with backoff, or at once if the handler was cancelled.
 * The same applies to work that ended after its signal had aborted because the key was lost.
 */
export type WorkHandler<Item extends WorkItem = WorkItem> = (
  item: Item,
  signal: AbortSignal,
) => Promise<void>;

export interface ConsumeOptions {
  /** Limit of concurrent keys. */
  readonly concurrency: number;
  /**
   * Decides which of several consumers takes a key first; the others leave it alone for `spreadAfterMs`. @default all
   * at once
   */
  readonly precedence?: Precedence;
}

/** The consumer's side, one per replica and queue. */
export interface WorkQueueConsumer<Item extends WorkItem = WorkItem> {
  /**
   * Processes at most `concurrency` keys at once until aborted, then takes no new key, waits for the running handlers
   * and resolves. A handler's signal aborts when its hold on the key is lost, or `drainTimeoutMs` after the abort. May
   * be run again after it has ended.
   * @throws IllegalStateError while it runs
   */
  run(handler: WorkHandler<Item>, options: ConsumeOptions, signal: AbortSignal): Promise<void>;
  /** Whether keys are being taken now. */
  readonly isConsuming: boolean;
}
