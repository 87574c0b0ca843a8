import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { mergeTraces } from './merge-traces.js';
import type { PendingAdd } from './pending-add.js';
import { addOfParked, mergePendingAdds, pendingAddOf, renewsRetries, waitingKeyOf } from './pending-add.js';
import type { TokenBucketState } from './rate-limiters.js';
import { exponentialBackoffMs, reserveToken } from './rate-limiters.js';
import { isCurrent, mayBegin, refusedBy } from './term-fence.js';
import type { WorkQueueMetrics } from './work-queue-metrics.js';
import { noWorkQueueMetrics } from './work-queue-metrics.js';
import type { CompiledWorkQueueOptions, WorkQueueOptions } from './work-queue.options.js';
import { compileWorkQueueOptions } from './work-queue.options.js';
import type {
  KeyView,
  ParkedKey,
  WorkQueueCounts,
  WorkQueueInspector,
  WorkQueueTending,
  WorkQueueView,
} from './queue-inspection.js';
import { WaitingKeys } from './waiting-keys.js';
import { REASONS_OF_RUNS } from './work-queue.js';
import type { AddOptions, BegunTerm, LeaderTerm, RetryOptions, WorkItem, WorkQueue } from './work-queue.js';

export interface MemoryWorkQueueDependencies {
  name: string;
  clock: Clock;
  metrics?: WorkQueueMetrics;
  options?: WorkQueueOptions;
}

interface Timer {
  readonly dueMs: number;
  readonly handle: TimerHandle;
  /** See {@link mergeDelayed}. */
  options: AddOptions;
}

/**
 * A work queue inside one process, without Redis; all time comes from the clock. Its content is lost with the process.
 */
export class MemoryWorkQueue implements WorkQueue, WorkQueueInspector, WorkQueueTending {
  readonly name: string;
  readonly options: CompiledWorkQueueOptions;
  readonly clock: Clock;
  readonly metrics: WorkQueueMetrics;
  /** Adds whose run has not started. For a key in progress: its next run. */
  private readonly pending = new Map<string, PendingAdd>();
  /** Each is in `pending`, and none is in `processing`. */
  private readonly waiting = new WaitingKeys();
  private readonly processing = new Set<string>();
  private readonly timers = new Map<string, Timer>();
  private readonly failures = new Map<string, number>();
  private readonly parkedKeys = new Map<string, ParkedKey>();
  private readonly listeners = new Set<() => void>();
  private bucket: TokenBucketState | undefined;
  private term: LeaderTerm | undefined;
  /** How many terms have ended with {@link endTerm}. */
  private endedTerms = 0;

  constructor(dependencies: MemoryWorkQueueDependencies) {
    this.name = dependencies.name;
    this.clock = dependencies.clock;
    this.metrics = dependencies.metrics ?? noWorkQueueMetrics;
    this.options = compileWorkQueueOptions(dependencies.options);
  }

  async add(key: string, options: AddOptions = {}): Promise<void> {
    this.addNow(key, pendingAddOf(options, this.clock.now()));
  }

  async beginTerm(term: LeaderTerm): Promise<BegunTerm> {
    if (!mayBegin(this.term, term)) throw refusedBy(this.term);
    this.term = term;
    const { endedTerms } = this;
    const assertCurrent = (): void => {
      if (endedTerms !== this.endedTerms || !isCurrent(this.term, term)) throw refusedBy(this.term);
    };
    return {
      check: async () => assertCurrent(),
      // Both in one turn: the term could end between them.
      add: async (key, options) => {
        assertCurrent();
        return this.add(key, options);
      },
    };
  }

  async addAfter(key: string, delayMs: number, options: AddOptions = {}): Promise<void> {
    if (delayMs <= 0) return this.add(key, options);
    this.setTimer(key, delayMs, options);
  }

  async addRateLimited(
    key: string,
    error: unknown,
    { leastDelayMs = 0, ...options }: RetryOptions = {},
  ): Promise<{ parked: boolean; delayMs: number }> {
    this.metrics.retried(this.name);
    const failures = this.failures.get(key) ?? 0;
    if (failures >= this.options.maxRetries) return { ...(await this.park(key, error, options)), delayMs: 0 };
    this.failures.set(key, failures + 1);
    const reserved = reserveToken(this.bucket, this.clock.monotonicNow(), this.options);
    this.bucket = reserved.state;
    const delayMs = Math.max(exponentialBackoffMs(failures, this.options), reserved.delayMs, leastDelayMs);
    this.setTimer(key, delayMs, { reason: 'retry', ...options });
    return { parked: false, delayMs };
  }

  async park(key: string, error: unknown, tryWith?: AddOptions): Promise<{ parked: boolean }> {
    const next = this.pending.get(key);
    if (next) {
      this.pending.set(key, addOfParked(next));
      if (renewsRetries(next.reason)) this.failures.delete(key);
      return { parked: false };
    }
    const retries = this.failures.get(key) ?? 0;
    this.parkedKeys.set(key, { key, error: errorMessage(error), retries, parkedAtMs: this.clock.now() });
    this.metrics.parked(this.name);
    if (tryWith)
      this.setTimer(key, this.options.parkedRetryMs, { ...tryWith, priority: 'low', reason: 'parked' });
    return { parked: true };
  }

  async forget(key: string): Promise<void> {
    this.failures.delete(key);
    this.dropTimerOfRuns(key);
  }

  async numRequeues(key: string): Promise<number> {
    return this.failures.get(key) ?? 0;
  }

  async counts(): Promise<WorkQueueCounts> {
    return {
      waiting: this.waiting.size,
      active: this.processing.size,
      delayed: this.timers.size,
      parked: this.parkedKeys.size,
    };
  }

  async parked(): Promise<readonly ParkedKey[]> {
    return [...this.parkedKeys.keys()].flatMap((key) => this.viewOf(key).parked ?? []);
  }

  async inspect(limit: number): Promise<WorkQueueView> {
    const keys = new Set([...this.pending.keys(), ...this.timers.keys()]);
    const views = [...keys].map((key) => this.viewOf(key));
    return {
      waiting: views.flatMap(({ waiting }) => waiting ?? []).slice(0, limit),
      delayed: views
        .flatMap(({ delayed, parked }) => (parked ? [] : (delayed ?? [])))
        .sort((a, b) => a.dueMs - b.dueMs)
        .slice(0, limit),
      parked: (await this.parked()).slice(0, limit),
    };
  }

  async inspectKey(key: string): Promise<KeyView> {
    return this.viewOf(key);
  }

  async purge(key: string): Promise<boolean> {
    const timer = this.timers.get(key);
    timer?.handle.cancel();
    this.waiting.delete(key);
    const known = [this.timers, this.pending, this.parkedKeys, this.failures].map((map) => map.delete(key));
    return known.includes(true);
  }

  /**
   * Drops every key that is not in progress, and refuses the adds of the present term from now on: one may be on its way and would wait here for
   * ever. The same term may begin again.
   */
  endTerm(): void {
    this.endedTerms++;
    this.clear();
  }

  /** Drops every key that is not in progress: waiting, delayed, parked, and their failures. */
  clear(): void {
    for (const { handle } of this.timers.values()) handle.cancel();
    for (const keys of [this.timers, this.pending, this.waiting, this.parkedKeys, this.failures])
      keys.clear();
  }

  /** Everything is lost, the term included, as in a Redis that restarts empty. A run in progress keeps its key. */
  loseData(): void {
    this.clear();
    this.term = undefined;
    this.bucket = undefined;
  }

  async close(): Promise<void> {
    for (const { handle } of this.timers.values()) handle.cancel();
    this.timers.clear();
  }

  /** For the consumer: takes the next waiting key, if any. */
  takeNext(): WorkItem | undefined {
    const key = this.waiting.take(this.clock.now() - this.options.agingMs);
    const pending = key === undefined ? undefined : this.pending.get(key);
    if (key === undefined || !pending) return undefined;
    this.pending.delete(key);
    this.processing.add(key);
    this.metrics.queueDuration(this.name, Math.max(this.clock.now() - pending.readySinceMs, 0));
    const comesBack = REASONS_OF_RUNS.has(this.timers.get(key)?.options.reason);
    return { key, retries: this.failures.get(key) ?? 0, comesBack, ...pending };
  }

  /**
   * For a consumer without precedence: how long until a key has waited for `spreadAfterMs`, milliseconds; 0 or less if
   * one has, undefined if none waits.
   */
  untilHelpIsWantedMs(): number | undefined {
    const sinceMs = this.waiting.oldestSinceMs();
    return sinceMs === undefined ? undefined : sinceMs + this.options.spreadAfterMs - this.clock.now();
  }

  /** For the consumer: the run of a taken key ended. */
  done(key: string): void {
    this.processing.delete(key);
    const next = this.pending.get(key);
    if (next) this.wait(key, next);
    this.wake();
  }

  /** For the consumer: calls `listener` whenever a key may be available. Returns the unsubscribe. */
  onWork(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private viewOf(key: string): KeyView {
    const [pending, timer, parked] = [this.pending.get(key), this.timers.get(key), this.parkedKeys.get(key)];
    const failures = this.failures.get(key) ?? 0;
    const dueMs = this.clock.now() + (timer?.dueMs ?? 0) - this.clock.monotonicNow();
    return {
      failures,
      hasJob: this.waiting.has(key) || this.processing.has(key),
      ...(pending && { waiting: waitingKeyOf(key, pending) }),
      ...(timer && { delayed: { key, dueMs, reason: timer.options.reason, failures } }),
      ...(parked && { parked: timer ? { ...parked, nextTryMs: dueMs } : parked }),
    };
  }

  private addNow(key: string, add: PendingAdd): void {
    this.metrics.added(this.name);
    const before = this.pending.get(key);
    const wasParked = this.parkedKeys.delete(key);
    if (renewsRetries(add.reason) && (wasParked || before?.reason === 'parked')) this.failures.delete(key);
    const merged = mergePendingAdds(before, wasParked ? addOfParked(add) : add);
    this.pending.set(key, merged);
    if (this.processing.has(key)) return;
    this.wait(key, merged);
    this.wake();
  }

  private wait(key: string, add: PendingAdd): void {
    if (this.waiting.size === 0 && this.processing.size === 0) this.waiting.resetTurns();
    this.waiting.put(key, add);
  }

  private setTimer(key: string, delayMs: number, options: AddOptions): void {
    const dueMs = this.clock.monotonicNow() + delayMs;
    const pendingTimer = this.timers.get(key);
    if (pendingTimer && pendingTimer.dueMs <= dueMs) {
      pendingTimer.options = mergeDelayed(pendingTimer.options, options);
      return;
    }
    pendingTimer?.handle.cancel();
    const handle = this.clock.setTimeout(() => {
      this.timers.delete(key);
      this.addNow(key, pendingAddOf(timer.options, this.clock.now()));
    }, delayMs);
    const timer: Timer = {
      dueMs,
      handle,
      options: pendingTimer ? mergeDelayed(options, pendingTimer.options) : options,
    };
    this.timers.set(key, timer);
  }

  private dropTimerOfRuns(key: string): void {
    const timer = this.timers.get(key);
    if (!timer || !REASONS_OF_RUNS.has(timer.options.reason)) return;
    timer.handle.cancel();
    this.timers.delete(key);
  }

  private wake(): void {
    for (const listener of this.listeners) listener();
  }
}

/**
 * Merges two delayed adds into the one that is due first, with the traces of both. If one of the two is of a change,
 * the result is: a run that ends well must not drop it.
 */
function mergeDelayed(first: AddOptions, other: AddOptions): AddOptions {
  const isChange = REASONS_OF_RUNS.has(first.reason) && !REASONS_OF_RUNS.has(other.reason);
  const { priority, reason } = isChange ? other : first;
  return { ...first, priority, reason, ...mergeTraces(first, other) };
}
