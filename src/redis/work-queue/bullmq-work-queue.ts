import type { Queue } from 'bullmq';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { LuaCall, RedisConnection } from '../connection/index.js';
import { SharedSteps, createRedisConnection } from '../connection/index.js';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import { BullMqInternals, wakeUpKeysOf } from './bullmq-internals.js';
import { BullMqJobs, JOB_FORMAT, bullPriorityOf } from './bullmq-jobs.js';
import type { PendingAdd } from '@rollkeeper/runtime/work-queue/pending-add';
import { PRIORITY_RANK, pendingAddOf } from '@rollkeeper/runtime/work-queue/pending-add';
import type { BegunReply } from './begin-run.js';
import { KEY_TO_COME } from './begin-run.js';
import type { EndOfRun } from './joined-taking.js';
import type { MovedTimer, TakenAdd } from './redis-queue-state.js';
import { RedisQueueState, throwSuperseded } from './redis-queue-state.js';
import type { WorkQueueMetrics } from '@rollkeeper/runtime/work-queue/work-queue-metrics';
import { noWorkQueueMetrics } from '@rollkeeper/runtime/work-queue/work-queue-metrics';
import type {
  CompiledWorkQueueOptions,
  WorkQueueOptions,
} from '@rollkeeper/runtime/work-queue/work-queue.options';
import { compileWorkQueueOptions } from '@rollkeeper/runtime/work-queue/work-queue.options';
import type {
  KeyView,
  ParkedKey,
  WorkQueueCounts,
  WorkQueueInspector,
  WorkQueueTending,
  WorkQueueView,
} from '@rollkeeper/runtime/work-queue/queue-inspection';
import type {
  AddOptions,
  BegunTerm,
  LeaderTerm,
  RetryOptions,
  WorkItem,
  WorkQueue,
} from '@rollkeeper/runtime/work-queue/work-queue';

/** The dependencies of {@link BullMqWorkQueue}. */
export interface BullMqWorkQueueDependencies<Started extends object = object> {
  /** For example `deployment`. No colon. */
  name: string;
  redisUrl: string;
  /** Distinguishes installations that share a Redis. @default 'rollkeeper' */
  keyPrefix?: string;
  clock: Clock;
  /** For the ids of jobs and answers. @default SystemRandom */
  random?: RandomSource;
  logger?: Logger;
  metrics?: WorkQueueMetrics;
  /**
   * Extra work done in the same step as the start of a run. Called with {@link KEY_TO_COME} where the key is known only in that
   * step. @default nothing
   */
  atStart?: (key: string) => StepAtStart<Started>;
  options?: WorkQueueOptions;
  /** Looks of several queues at the same time, as one command. Not for a Cluster. @default its own */
  steps?: SharedSteps;
}

/** The state of a queue at a glance, over all replicas. */
interface QueueGlance {
  /** Nothing is there that maintenance would look at. */
  readonly isAtRest: boolean;
  readonly waiting: number;
  readonly active: number;
  readonly parked: number;
  /** bull-board can pause a queue on all replicas. */
  readonly isPaused: boolean;
}

/**
 * Work on the queue's Redis server, done in the same step as the start of a run. Not for a Cluster, where its keys may
 * be on another server.
 */
export interface StepAtStart<Started extends object> {
  readonly call: LuaCall;
  /** Parses the reply into fields added to the run's item. */
  readonly read: (reply: unknown, key: string) => Started;
  /** The work that is left for the end of the run. */
  readonly atEnd?: () => EndOfRun | undefined;
}

/** A run that starts. */
export interface TakenRun<Started extends object> {
  readonly item: WorkItem & Partial<Started>;
  readonly atEnd: () => EndOfRun | undefined;
}

/** A run that has started in the step that took its job. */
export interface BegunRun<Started extends object> {
  readonly taken: TakenAdd<unknown>;
  readonly step: StepAtStart<Started> | undefined;
}

/**
 * The adds of one term. The calls in `together` run before the add, in the same step. They take effect even if the add
 * is then refused, so they must be harmless alone.
 */
export interface JoinableAdds extends BegunTerm {
  readonly add: (key: string, options?: AddOptions, together?: readonly LuaCall[]) => Promise<void>;
}

/** The steps that are sent together with an add. */
interface AddsWith {
  readonly together?: readonly LuaCall[];
  readonly term?: LeaderTerm;
}

/** Limit of jobs aged and overdue timers found in one round of maintenance; the rest waits for the next round. */
const MAINTENANCE_BATCH = 100;
/** A timer this late has lost its wake-up job. */
const OVERDUE_TIMER_MS = 1000;
/** Limit of adds in flight: enough to keep Redis busy, few enough for each to be answered in time. */
const ADDS_IN_FLIGHT = 128;

/**
 * The {@link WorkQueue} on BullMQ:
 *
 * - A waiting key is one job, deduplicated by the key with `keepLastIfActive`: BullMQ has at most one job per key and
 *   stores at most one successor while it runs. That corresponds to client-go's dirty and processing sets.
 * - The data of an add is merged beside the queue in the same step, because BullMQ drops the data of an add that meets
 *   a waiting job.
 * - Which key goes first is ours: namespaces take turns (fair-turns.ts), which are the scores of BullMQ's prioritized
 *   jobs.
 * - Delayed adds are timers of our own, the earliest per key. A delayed job with an id of its own wakes a worker when a
 *   timer is due, and only makes an immediate add. If it shared the key's deduplication id, immediate adds would wait
 *   behind the delay.
 * - Retries are ours (`attempts: 1`): BullMQ would hold back the successor until all attempts are used up.
 */
export class BullMqWorkQueue<Started extends object = object>
  implements WorkQueue, WorkQueueInspector, WorkQueueTending
{
  readonly name: string;
  readonly options: CompiledWorkQueueOptions;
  readonly metrics: WorkQueueMetrics;
  readonly redisUrl: string;
  readonly clock: Clock;
  /** BullMQ's `prefix`: the hash tag that keeps all keys of this queue in one slot of a Redis Cluster. */
  readonly prefix: string;
  private readonly redis: RedisConnection;
  private readonly state: RedisQueueState;
  private readonly internals: BullMqInternals;
  private readonly jobs: BullMqJobs;
  private readonly logger: Logger;
  private readonly atStart: BullMqWorkQueueDependencies<Started>['atStart'];
  private readonly random: RandomSource;
  private readonly sharedSteps: SharedSteps;
  private readonly addLimit = new ConcurrencyLimit(ADDS_IN_FLIGHT);

  constructor(dependencies: BullMqWorkQueueDependencies<Started>) {
    const { name, keyPrefix = 'rollkeeper' } = dependencies;
    if (name === '' || name.includes(':'))
      throw new InvalidOptionError('name', 'must not be empty or hold a colon');
    this.name = name;
    this.options = compileWorkQueueOptions(dependencies.options);
    this.metrics = dependencies.metrics ?? noWorkQueueMetrics;
    this.redisUrl = dependencies.redisUrl;
    this.clock = dependencies.clock;
    this.random = dependencies.random ?? new SystemRandom();
    this.atStart = dependencies.atStart;
    this.logger = (dependencies.logger ?? silentLogger).child({ queue: name });
    this.prefix = `{${keyPrefix}:queue:${name}}`;
    this.redis = createRedisConnection({
      url: dependencies.redisUrl,
      connectionName: `rollkeeper-queue-${name}`,
      // Every batch copies all the scripts that BullMQ defines: an add would take twice the CPU and latency.
      autoPipelining: false,
      logger: this.logger,
    });
    this.internals = new BullMqInternals(this.redis);
    this.sharedSteps = dependencies.steps ?? new SharedSteps(() => this.redis);
    const wakeUps = wakeUpKeysOf(this.prefix, name);
    this.state = new RedisQueueState(this.redis, this.prefix, wakeUps, this.random, this.sharedSteps);
    const { clock, internals, logger, prefix, random, redis, state } = this;
    this.jobs = new BullMqJobs({ name, prefix, redis, internals, state, clock, random, logger });
  }

  async add(key: string, options: AddOptions = {}): Promise<void> {
    await this.addNow(key, pendingAddOf(options, this.clock.now()));
  }

  async beginTerm(term: LeaderTerm): Promise<JoinableAdds> {
    const begunOn = await this.state.beginTerm(term);
    return {
      check: () => this.state.checkBegun(term, begunOn),
      add: (key, options = {}, together = []) =>
        this.addNow(key, pendingAddOf(options, this.clock.now()), { term, together }),
    };
  }

  async addAfter(key: string, delayMs: number, options: AddOptions = {}): Promise<void> {
    if (delayMs <= 0) return this.add(key, options);
    const due = await this.state.setTimer(key, delayMs, options);
    if (due !== undefined) await this.jobs.wakeUp(key, due, delayMs);
  }

  /** Two steps: if the process dies in between, another replica repeats the run and gets here again. */
  async addRateLimited(
    key: string,
    error: unknown,
    { failureId, leastDelayMs = 0, ...options }: RetryOptions = {},
  ): Promise<{ parked: boolean; delayMs: number }> {
    const limited = await this.state.rateLimit(key, error, this.options, failureId);
    this.metrics.retried(this.name);
    if (limited.parked) {
      this.metrics.parked(this.name);
      await this.tryParkedLater(key, options);
      return { parked: true, delayMs: 0 };
    }
    if (limited.runWaits) return { parked: false, delayMs: 0 };
    const delayMs = Math.max(limited.delayMs, leastDelayMs);
    await this.addAfter(key, delayMs, { reason: 'retry', ...options });
    return { parked: false, delayMs };
  }

  async park(key: string, error: unknown, tryWith?: AddOptions): Promise<{ parked: boolean }> {
    const parked = await this.state.park(key, error);
    if (!parked) return { parked };
    this.metrics.parked(this.name);
    if (tryWith) await this.tryParkedLater(key, tryWith);
    return { parked };
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
    const queue = await this.jobs.open();
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
    const queue = await this.jobs.open();
    const jobId = await queue.getDeduplicationJobId(key);
    // A deduplication key may have no job any more (bullmq#4311), or one that is in no list.
    const hasJob = jobId !== null && (await queue.getJobState(jobId)) !== 'unknown';
    return { hasJob, ...(await this.state.view.inspectKey(key)) };
  }

  async purge(key: string): Promise<boolean> {
    const known = await this.state.view.purge(key);
    const queue = await this.jobs.open();
    const jobId = await queue.getDeduplicationJobId(key);
    const job = jobId === null ? undefined : await queue.getJob(jobId);
    if (!job) return known;
    if (!(await job.isActive())) {
      await job.remove();
      return true;
    }
    // The run continues; the one queued behind it is dropped.
    await this.internals.dropSuccessor(queue, key);
    return known;
  }

  /** BullMQ's own queue, for tools that show it. They must not change it. */
  bullQueue(): Promise<Queue> {
    return this.jobs.open() as Promise<Queue>;
  }

  async close(): Promise<void> {
    await this.jobs.close();
    this.redis.disconnect();
  }

  /**
   * For the consumer: the item of a starting job. `fallback` is the data of the job itself.
   * @param begun what {@link beginning} has read, if it was part of the step that took the job
   */
  async takeItem(key: string, fallback: PendingAdd, begun?: BegunRun<Started>): Promise<TakenRun<Started>> {
    const step = begun ? begun.step : this.atStart?.(key);
    const taken = begun?.taken ?? (await this.state.takePending(key, step?.call));
    const { comesBack, failures, pending, reply } = taken;
    const started: Partial<Started> = step ? step.read(reply, key) : {};
    const item = { key, retries: failures, comesBack, ...(pending ?? fallback), ...started };
    return { item, atEnd: () => step?.atEnd?.() };
  }

  /** For the consumer: the start of a run, to follow BullMQ's script that takes its job in the same step. */
  beginning(): {
    call: LuaCall;
    answerKey: string;
    read: (reply: unknown) => BegunRun<Started> | undefined;
  } {
    const step = this.atStart?.(KEY_TO_COME);
    const read = (reply: unknown): BegunRun<Started> | undefined => {
      const taken = this.state.readBegun(reply as BegunReply);
      return taken && { taken, step };
    };
    const answerKey = this.state.newAnswerKey();
    return { call: this.state.beginning(JOB_FORMAT, step?.call), answerKey, read };
  }

  /**
   * For the consumer: handles a wake-up job. If its timer was replaced, does nothing: the newer timer has its own
   * wake-up job. If it is early because the clocks of two machines differ, sets it again.
   *
   * The timer is removed in the step that adds the key: a crash loses neither, and a run that asks to come back later does not find
   * the old timer, keep it as the earlier one, and then lose it.
   */
  async fireTimer(key: string, due: string): Promise<void> {
    const timer = await this.state.readTimer(key);
    if (!timer || timer.due !== due) return this.finishFired(key);
    if (timer.leftMs > 0) return this.jobs.wakeUp(key, due, timer.leftMs);
    const add = pendingAddOf(timer.add, Number(due));
    await this.addNow(key, add, { together: [this.state.clearingTimer(key, due)] });
  }

  /**
   * For the consumer: whether a key has waited longer than `spreadAfterMs`, so that non-leading replicas should help.
   */
  async wantsHelp(): Promise<boolean> {
    const longAgoMs = this.clock.now() - this.options.spreadAfterMs;
    return this.internals.waitsSince(await this.jobs.open(), longAgoMs);
  }

  /** For the consumer: whether there is anything to do but to wait for a key. */
  async glance(): Promise<QueueGlance> {
    const call = this.internals.looking(await this.jobs.open(), this.state.keys);
    const [isAtRest, waiting, active, parked, isPaused] = await this.sharedSteps.run(call);
    return { isAtRest: isAtRest === 1, waiting, active, parked, isPaused: isPaused === 1 };
  }

  /**
   * For the consumer, every `maintenanceIntervalMs` unless the queue is at rest: ages waiting jobs and fires timers whose wake-up was lost. If the
   * server's clock went back, bounds the locks of jobs and the pause before dead workers are looked for, and moves timers back, which would last or come so much later.
   */
  async maintain(): Promise<void> {
    const nowMs = this.clock.now();
    const aged = { beforeMs: nowMs - this.options.agingMs, limit: MAINTENANCE_BATCH, nowMs };
    await this.internals.ageWaiting(await this.jobs.open(), this.state.keys, aged);
    await this.internals.boundLocks(await this.jobs.open(), this.options);
    const { moved, overdue } = await this.state.tendTimers(OVERDUE_TIMER_MS, MAINTENANCE_BATCH);
    if (moved.length > 0) await this.wakeUpMoved(moved);
    for (const key of overdue) {
      const timer = await this.state.readTimer(key);
      if (timer) await this.fireTimer(key, timer.due);
    }
  }

  /**
   * Finds keys that wait without a job: an outage left a deduplication key behind (bullmq#4311), or a worker died while
   * it fired a timer. Removes the stale key and adds the keys again. The cost is proportional to the number of waiting
   * keys. A stray deduplication key that no add has met yet is harmless: either BullMQ sees that its job no longer
   * exists, or the next add turns the key into one that is found here.
   * @returns how many keys were repaired
   */
  async sweepStray(): Promise<number> {
    const queue = await this.jobs.open();
    let repaired = 0;
    for await (const { key, add } of this.state.pendingSince(this.clock.now() - this.options.strayAfterMs)) {
      const found = await this.internals.clearStray(queue, key);
      if (found === undefined) continue;
      this.logger.warn('a waiting key had no job and was added again', { key, found });
      await this.jobs.enqueue(key, add, PRIORITY_RANK[add.priority]);
      repaired += 1;
    }
    if (repaired > 0) this.metrics.repaired(this.name, repaired);
    return repaired;
  }

  /** Their wake-up jobs name the due times of before. If this ends half way, the rest is found overdue. */
  private async wakeUpMoved(moved: readonly MovedTimer[]): Promise<void> {
    this.logger.warn('the clock of Redis went back; all timers are moved back', { timers: moved.length });
    const waking = moved.map(({ due, key, leftMs }) =>
      this.addLimit.run(() => this.jobs.wakeUp(key, due, leftMs), PRIORITY_RANK.low),
    );
    await Promise.all(waking);
  }

  /** A worker may have died after it recorded this timer's add and before it made a job of it. */
  private async finishFired(key: string): Promise<void> {
    const add = await this.state.readPending(key);
    if (add) await this.jobs.enqueue(key, add, PRIORITY_RANK[add.priority]);
  }

  private addNow(key: string, add: PendingAdd, more: AddsWith = {}): Promise<void> {
    const rank = PRIORITY_RANK[add.priority];
    return this.addLimit.run(() => this.sendAdd(key, add, more).catch(throwSuperseded), rank);
  }

  /**
   * One step: no worker may get the key before the calls that go with the add have run, and no part of an add may
   * happen in a term that has ended. Another step follows only if the run is in the foreground and this add is not,
   * because BullMQ gives the successor of a running job the priority of the last add.
   */
  private async sendAdd(key: string, add: PendingAdd, { together = [], term }: AddsWith): Promise<void> {
    const ownRank = PRIORITY_RANK[add.priority];
    const checking = term ? [this.state.checkTerm(term)] : [];
    const before = [...together, ...checking, this.state.merging(key, add)];
    const rank = this.state.readMerged((await this.jobs.enqueue(key, add, ownRank, before)).at(-1));
    if (bullPriorityOf(rank) < bullPriorityOf(ownRank)) await this.jobs.enqueue(key, add, rank, checking);
    this.metrics.added(this.name);
  }
}
