import { Queue } from 'bullmq';
import type { EarlyAcquisition, ResourceVersions } from '../actor/actor.js';
import type { Clock } from '../../base/clock/index.js';
import { InvalidOptionError } from '../../base/errors/index.js';
import type { Logger } from '../../base/logging/index.js';
import { silentLogger } from '../../base/logging/index.js';
import type { LuaCall, RedisConnection } from '../../base/redis/index.js';
import { LuaScript, createRedisConnection } from '../../base/redis/index.js';
import { ConcurrencyLimit } from '../../base/concurrency/index.js';
import { BullMqOneStep } from './bullmq-one-step.js';
import type { PendingAdd } from './pending-add.js';
import { PRIORITY_RANK, pendingAddOf } from './pending-add.js';
import { RedisQueueState, throwSuperseded } from './redis-queue-state.js';
import type { WorkQueueMetrics } from './work-queue-metrics.js';
import { noWorkQueueMetrics } from './work-queue-metrics.js';
import type { CompiledWorkQueueOptions, WorkQueueOptions } from './work-queue.options.js';
import { compileWorkQueueOptions } from './work-queue.options.js';
import type {
  AddOptions,
  KeyView,
  LeaderAdds,
  LeaderTerm,
  ParkedKey,
  RetryOptions,
  WorkItem,
  WorkQueue,
  WorkQueueCounts,
  WorkQueueView,
} from './work-queue.js';

export interface BullMqWorkQueueDependencies {
  /** For example `deployment`. No colon. */
  name: string;
  redisUrl: string;
  /** Distinguishes installations that share a Redis. @default 'rollkeeper' */
  keyPrefix?: string;
  clock: Clock;
  logger?: Logger;
  metrics?: WorkQueueMetrics;
  /** The actors of the queue's keys, where they are kept on the same server; a Cluster is not one. @default none */
  actors?: QueuedActors;
  options?: WorkQueueOptions;
}

/** The part of a key's actor that is done in one step with the queue's own. */
export interface QueuedActors {
  recordCauses(key: string, causes: ResourceVersions): LuaCall;
  acquire(key: string): { call: LuaCall; read: (reply: unknown) => EarlyAcquisition };
}

/** `key`: work on the key. `timer`: the key's timer `due` may have come. */
export type QueueJobData = ({ key: string; add: PendingAdd } | { key: string; due: string }) & {
  /** The format, {@link JOB_FORMAT} of who made the job; absent: 1. */
  v?: number;
};
/**
 * Grows when older releases could not make sense of a job any more. They leave such a job to the newer ones. What is
 * stored beside the jobs only ever gets additions at the end, which older releases pass over.
 */
export const JOB_FORMAT = 1;
export type QueueJobName = 'key' | 'timer';

/** What goes with an add, in the same step. */
interface AddsWith {
  readonly causes?: ResourceVersions;
  readonly term?: LeaderTerm;
}

const ageWaiting = new LuaScript(new URL('./lua/age-waiting-4.lua', import.meta.url));
const clearStray = new LuaScript(new URL('./lua/clear-stray-4.lua', import.meta.url));

/** Aging moves, and the search for overdue timers sees, so many at once; the rest at the next look. */
const MAINTENANCE_BATCH = 100;
/** A timer this late has lost its wake-up job. */
const OVERDUE_TIMER_MS = 1000;
/** Adds on their way at once; enough to keep Redis busy, few enough to be answered in time. */
const ADDS_IN_FLIGHT = 128;
const JOB_MISSING = -1;
const CLOSE_GRACE_MS = 500;

/**
 * The {@link WorkQueue} on BullMQ. How the two fit:
 *
 * - A key that waits is one job, deduplicated by the key with `keepLastIfActive`: BullMQ has at most one job per
 *   key and stores at most one successor while it runs. That is client-go's dirty and processing.
 * - What an add carries is merged beside the queue in the same step, because BullMQ drops the data of an add that meets
 *   a waiting job.
 * - Delayed adds are timers of our own, the earliest per key. A delayed job under an id of its own wakes a worker
 *   when one is due, and all it does is an immediate add. Sharing the key's deduplication id would make the add wait
 *   behind the delay.
 * - Retries are ours (`attempts: 1`): BullMQ would hold back the successor until the job's attempts are used up.
 */
export class BullMqWorkQueue implements WorkQueue {
  readonly name: string;
  readonly options: CompiledWorkQueueOptions;
  readonly metrics: WorkQueueMetrics;
  readonly redisUrl: string;
  readonly clock: Clock;
  /** BullMQ's `prefix`: the hash tag that keeps all keys of this queue in one slot of a Redis Cluster. */
  readonly prefix: string;
  private readonly redis: RedisConnection;
  private readonly state: RedisQueueState;
  private readonly jobs: BullMqOneStep;
  private readonly logger: Logger;
  private readonly actors: QueuedActors | undefined;
  readonly addWithCauses: WorkQueue['addWithCauses'];
  private readonly addLimit = new ConcurrencyLimit(ADDS_IN_FLIGHT);
  private opened: Promise<Queue<QueueJobData, unknown, QueueJobName>> | undefined;

  constructor(dependencies: BullMqWorkQueueDependencies) {
    const { name, keyPrefix = 'rollkeeper' } = dependencies;
    if (name === '' || name.includes(':'))
      throw new InvalidOptionError('name', 'must not be empty or hold a colon');
    this.name = name;
    this.options = compileWorkQueueOptions(dependencies.options);
    this.metrics = dependencies.metrics ?? noWorkQueueMetrics;
    this.redisUrl = dependencies.redisUrl;
    this.clock = dependencies.clock;
    const { actors } = dependencies;
    this.actors = actors;
    this.addWithCauses =
      actors &&
      ((key, causes, options = {}) => this.addNow(key, pendingAddOf(options, this.clock.now()), { causes }));
    this.logger = (dependencies.logger ?? silentLogger).child({ queue: name });
    this.prefix = `{${keyPrefix}:queue:${name}}`;
    this.redis = createRedisConnection({
      url: dependencies.redisUrl,
      connectionName: `rollkeeper-queue-${name}`,
      // Every batch copies all the scripts that BullMQ defines: twice the CPU and the latency of an add.
      autoPipelining: false,
      logger: this.logger,
    });
    this.jobs = new BullMqOneStep(this.redis);
    this.state = new RedisQueueState(this.redis, this.prefix);
  }

  async add(key: string, options: AddOptions = {}): Promise<void> {
    await this.addNow(key, pendingAddOf(options, this.clock.now()));
  }

  async beginTerm(term: LeaderTerm): Promise<LeaderAdds> {
    await this.state.beginTerm(term);
    const { actors } = this;
    const add = (key: string, options: AddOptions = {}, causes?: ResourceVersions): Promise<void> =>
      this.addNow(key, pendingAddOf(options, this.clock.now()), { term, ...(causes && { causes }) });
    return {
      add,
      ...(actors && { addWithCauses: (key, causes, options) => add(key, options, causes) }),
    };
  }

  async addAfter(key: string, delayMs: number, options: AddOptions = {}): Promise<void> {
    if (delayMs <= 0) return this.add(key, options);
    const due = await this.state.setTimer(key, delayMs, options);
    if (due !== undefined) await this.wakeUp(key, due, delayMs);
  }

  /** Not in one step: who dies before the timer is set leaves its run to another, which comes here again. */
  async addRateLimited(
    key: string,
    error: unknown,
    { leastDelayMs = 0, ...options }: RetryOptions = {},
  ): Promise<{ parked: boolean; delayMs: number }> {
    const limited = await this.state.rateLimit(key, error, this.options);
    this.metrics.retried(this.name);
    if (limited.parked) {
      this.metrics.parked(this.name);
      await this.tryParkedLater(key, options);
      return { parked: true, delayMs: 0 };
    }
    const delayMs = Math.max(limited.delayMs, leastDelayMs);
    await this.addAfter(key, delayMs, { reason: 'retry', ...options });
    return { parked: false, delayMs };
  }

  async park(key: string, error: unknown, tryWith?: AddOptions): Promise<void> {
    await this.state.park(key, error);
    this.metrics.parked(this.name);
    if (tryWith) await this.tryParkedLater(key, tryWith);
  }

  private async tryParkedLater(key: string, add: AddOptions): Promise<void> {
    await this.addAfter(key, this.options.parkedRetryMs, { ...add, priority: 'low', reason: 'parked' });
  }

  forget(key: string): Promise<void> {
    return this.state.forget(key);
  }

  numRequeues(key: string): Promise<number> {
    return this.state.failures(key);
  }

  async counts(): Promise<WorkQueueCounts> {
    const queue = await this.open();
    const [jobs, own] = await Promise.all([
      queue.getJobCounts('wait', 'prioritized', 'active'),
      this.state.counts(),
    ]);
    const waiting = (jobs['wait'] ?? 0) + (jobs['waiting'] ?? 0) + (jobs['prioritized'] ?? 0);
    return { waiting, active: jobs['active'] ?? 0, ...own };
  }

  parked(): Promise<readonly ParkedKey[]> {
    return this.state.view.parked();
  }

  inspect(limit: number): Promise<WorkQueueView> {
    return this.state.view.inspect(limit);
  }

  async inspectKey(key: string): Promise<KeyView> {
    const queue = await this.open();
    const jobId = await queue.getDeduplicationJobId(key);
    // A deduplication key may stand for no job any more (bullmq#4311), or for one that is in no list.
    const hasJob = jobId !== null && (await queue.getJobState(jobId)) !== 'unknown';
    return { hasJob, ...(await this.state.view.inspectKey(key)) };
  }

  async purge(key: string): Promise<boolean> {
    const known = await this.state.view.purge(key);
    const queue = await this.open();
    const jobId = await queue.getDeduplicationJobId(key);
    const job = jobId === null ? undefined : await queue.getJob(jobId);
    if (!job) return known;
    if (!(await job.isActive())) {
      await job.remove();
      return true;
    }
    // The run goes on; the one that was to follow it does not.
    await this.redis.del(queue.toKey(`dn:${key}`));
    return known;
  }

  /** BullMQ's own queue, for tools that show it. Not to be changed by them. */
  bullQueue(): Promise<Queue> {
    return this.open() as Promise<Queue>;
  }

  /** BullMQ's own closing waits for Redis, however long it is away: after a moment it goes on without. */
  async close(): Promise<void> {
    const closing = this.opened?.then((queue) => queue.close()).catch(() => undefined);
    const waited = new AbortController();
    await Promise.race([closing, this.clock.sleep(CLOSE_GRACE_MS, waited.signal).catch(() => undefined)]);
    waited.abort();
    this.redis.disconnect();
  }

  /** For the consumer: the item of a job that starts. `fallback` is what the job itself carries. */
  async takeItem(key: string, fallback: PendingAdd): Promise<WorkItem> {
    const lock = this.actors?.acquire(key);
    const { pending, failures, reply } = await this.state.takePending(key, lock?.call);
    return { key, retries: failures, ...(pending ?? fallback), ...(lock ? { early: lock.read(reply) } : {}) };
  }

  /**
   * For the consumer: a wake-up job came. One whose timer was replaced does nothing: the newer timer has a wake-up
   * of its own. One that comes early, because the clocks of two machines differ, is set again.
   *
   * The order matters. The add is noted before the timer goes, so that a crash loses neither; and the timer goes
   * before the key can run, because a run that asks to come back later would meet it, be told that an earlier timer
   * stays, and then see it removed.
   */
  async fireTimer(key: string, due: string): Promise<void> {
    const timer = await this.state.readTimer(key);
    if (!timer || timer.due !== due) return this.finishFired(key);
    if (timer.leftMs > 0) return this.wakeUp(key, due, timer.leftMs);
    const add = pendingAddOf(timer.add, Number(due));
    await this.state.mergePending(key, add);
    await this.state.clearTimer(key, due);
    await this.addNow(key, add);
  }

  /** Whether somebody has paused the queue for everyone (bull-board can). */
  async isPaused(): Promise<boolean> {
    return (await this.open()).isPaused();
  }

  /** For the consumer, every `maintenanceIntervalMs`: aging, lost wake-ups. */
  async maintain(): Promise<void> {
    const queue = await this.open();
    const key = (name: string): string => queue.toKey(name);
    await ageWaiting.run(
      this.redis,
      [key('prioritized'), key('pc'), key('wait'), key('marker')],
      [key(''), this.clock.now() - this.options.agingMs, MAINTENANCE_BATCH],
    );
    for (const overdue of await this.state.overdueTimers(OVERDUE_TIMER_MS, MAINTENANCE_BATCH)) {
      const timer = await this.state.readTimer(overdue);
      if (timer) await this.fireTimer(overdue, timer.due);
    }
  }

  /**
   * Finds keys that wait although no job stands behind them: an outage left a deduplication key behind (bullmq#4311),
   * or a producer died between the two steps of an add. Removes what is in the way and adds them again. Costs in
   * proportion to the keys that wait. A stray deduplication key that no add has met yet is harmless: BullMQ sees
   * that its job is gone, or else the next add becomes such a waiting key.
   * @returns how many keys were repaired
   */
  async sweepStray(): Promise<number> {
    const queue = await this.open();
    const keys = ['prioritized', 'wait', 'active', 'delayed'].map((name) => queue.toKey(name));
    let repaired = 0;
    for await (const { key, add } of this.state.pendingSince(this.clock.now() - this.options.strayAfterMs)) {
      if ((await clearStray.run(this.redis, keys, [queue.toKey(''), key])) !== 1) continue;
      this.logger.warn('a waiting key had no job behind it and was added again', { key });
      await this.enqueue(key, add, PRIORITY_RANK[add.priority]);
      repaired += 1;
    }
    if (repaired > 0) this.metrics.repaired(this.name, repaired);
    return repaired;
  }

  /** Somebody may have died between noting the add of this timer and making a job of it. */
  private async finishFired(key: string): Promise<void> {
    const add = await this.state.readPending(key);
    if (add) await this.enqueue(key, add, PRIORITY_RANK[add.priority]);
  }

  private addNow(key: string, add: PendingAdd, more: AddsWith = {}): Promise<void> {
    const rank = PRIORITY_RANK[add.priority];
    return this.addLimit.run(() => this.sendAdd(key, add, more).catch(throwSuperseded), rank);
  }

  /**
   * One step: nobody may get the key before its causes are recorded, and nothing of an add may happen under a term that is
   * over. Only where the run has a higher priority than this add does more follow: BullMQ has given the successor of a
   * running job the priority of the add that came last.
   */
  private async sendAdd(key: string, add: PendingAdd, { causes, term }: AddsWith): Promise<void> {
    const ownRank = PRIORITY_RANK[add.priority];
    const recording = causes && this.actors ? [this.actors.recordCauses(key, causes)] : [];
    const checking = term ? [this.state.checkTerm(term)] : [];
    const before = [...recording, ...checking, this.state.merging(key, add)];
    const { rank, raised } = this.state.readMerged((await this.enqueue(key, add, ownRank, before)).at(-1));
    if (rank < ownRank) await this.enqueue(key, add, rank, checking);
    if (rank < ownRank || raised) await this.raise(key, rank);
    this.metrics.added(this.name);
  }

  /** Returns the replies of what is done before, in the same step. */
  private async enqueue(
    key: string,
    add: PendingAdd,
    rank: number,
    before: readonly LuaCall[] = [],
  ): Promise<unknown[]> {
    const queue = await this.open();
    const deduplication = { id: key, keepLastIfActive: true };
    const options = { priority: rank, deduplication };
    return this.jobs.add(queue, 'key', { key, add, v: JOB_FORMAT }, options, before);
  }

  /** Moves the waiting job of the key up; one that has started or ended meanwhile needs no help. */
  private async raise(key: string, rank: number): Promise<void> {
    const queue = await this.open();
    const jobId = await queue.getDeduplicationJobId(key);
    if (jobId === null) return;
    try {
      const job = await queue.getJob(jobId);
      if (job && job.priority > rank) await job.changePriority({ priority: rank });
    } catch (error) {
      if ((error as { code?: unknown }).code !== JOB_MISSING) throw error;
    }
  }

  private async wakeUp(key: string, due: string, delayMs: number): Promise<void> {
    const queue = await this.open();
    await queue.add('timer', { key, due, v: JOB_FORMAT }, { delay: Math.ceil(delayMs) });
  }

  /** BullMQ's queue connects as it is made, and stays broken when that fails: so, not before Redis answers. */
  private open(): Promise<Queue<QueueJobData, unknown, QueueJobName>> {
    this.opened ??= this.openQueue().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async openQueue(): Promise<Queue<QueueJobData, unknown, QueueJobName>> {
    await this.redis.ping();
    const queue = new Queue<QueueJobData, unknown, QueueJobName>(this.name, {
      connection: this.redis,
      prefix: this.prefix,
      // Nobody reads the event stream; it is kept short.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', (error) => this.logger.warn('bullmq queue error', { error }));
    await queue.waitUntilReady();
    return queue;
  }
}
