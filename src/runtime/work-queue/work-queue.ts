import type { AddTraces } from './merge-traces.js';
import type { Precedence } from './precedence.js';

/** Of adds with which a run asks for the next one of its key. */
export const REASONS_OF_RUNS: ReadonlySet<ReconcileReason | undefined> = new Set([
  'requeue',
  'retry',
  'parked',
]);

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

/** `high`: a person changed something. `low`: initial list and resync. Aging keeps every key from starving. */
export type Priority = 'high' | 'normal' | 'low';

/** The traces are those of the change that caused the add, and of changes that were merged into it already. */
export interface AddOptions extends AddTraces {
  /** @default 'normal' */
  priority?: Priority;
  /** @default 'child-change' */
  reason?: ReconcileReason;
}

/** How a key that failed comes back. */
export interface RetryOptions extends AddOptions {
  /** The shortest wait in milliseconds, however short the backoff is. @default 0 */
  leastDelayMs?: number;
}

/** A key handed to a worker. The traces are those of the adds that became this run. */
export interface WorkItem extends AddTraces {
  readonly key: string;
  /** How often this key failed in a row before this run. */
  readonly retries: number;
  /** Whether earlier runs asked for one that is still to come. @default false */
  readonly comesBack?: boolean;
  readonly reason: ReconcileReason;
  readonly priority: Priority;
  /** Wall clock, epoch milliseconds, when the key became ready to run. */
  readonly readySinceMs: number;
}

/** One term of one leader: what the effects of leading are fenced with. */
export interface LeaderTerm {
  /** Grows from term to term. */
  readonly epoch: number;
  /** Unique to one life of one process: a store that loses its last writes may give an epoch twice. */
  readonly holder: string;
}

/** The adds of one term. Each is refused with SupersededError, without any effect, once the queue's term is another. */
export type LeaderAdds = Pick<WorkQueue, 'add'>;

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
  /**
   * A run of the key has ended well: resets its backoff, and drops what earlier runs had asked for later (`requeue`, `retry`, the try of
   * a parked key). Delayed adds of changes stay.
   */
  forget(key: string): Promise<void>;
  numRequeues(key: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Handles one key. The queue neither retries nor forgets by itself: the controller decides by the outcome. If a handler
 * rejects, nothing was decided and the key is worked on again: with backoff, or at once if the handler was cancelled. The
 * same holds for work that ended after its signal had aborted because the key was lost.
 */
export type WorkHandler<Item extends WorkItem = WorkItem> = (
  item: Item,
  signal: AbortSignal,
) => Promise<void>;

export interface ConsumeOptions {
  /** Keys at once, at most. */
  readonly concurrency: number;
  /** Who takes a key first where several consume; the others leave it alone for `spreadAfterMs`. @default all at once */
  readonly precedence?: Precedence;
}

/** The consumer's side, one per replica and queue. */
export interface WorkQueueConsumer<Item extends WorkItem = WorkItem> {
  /**
   * Works with at most `concurrency` keys at once until aborted, then takes no new key, waits for the running
   * handlers and resolves. A handler's signal aborts when its hold on the key is lost, or `drainTimeoutMs` after
   * the abort. May be run again after it has ended.
   * @throws IllegalStateError while it runs
   */
  run(handler: WorkHandler<Item>, options: ConsumeOptions, signal: AbortSignal): Promise<void>;
  /** Whether keys are being taken at this moment. */
  readonly isConsuming: boolean;
}
