import type { Job } from 'bullmq';
import { WaitingError } from 'bullmq';
import { LinkedAbort, untilAborted, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { IllegalStateError, ShutdownError, isCancellation } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '../connection/index.js';
import { createRedisConnection } from '../connection/index.js';
import type { TakingRule } from './bullmq-internals.js';
import { DRAIN_DELAY_S, ObservedWorker, withCopies } from './bullmq-internals.js';
import { BullMqLockGuard } from './bullmq-lock-guard.js';
import { ConsumerSteps } from './consumer-steps.js';
import type { EndOfRun } from './joined-taking.js';
import { BullMqTending } from './bullmq-tending.js';
import type { QueueJobData, QueueJobName } from './bullmq-jobs.js';
import { JOB_FORMAT } from './bullmq-jobs.js';
import type { BullMqWorkQueue } from './bullmq-work-queue.js';
import { RunningWork } from '@rollkeeper/runtime/work-queue/running-work';
import type { Precedence } from '@rollkeeper/runtime/work-queue';
import { ALWAYS_FIRST } from '@rollkeeper/runtime/work-queue';
import type {
  ConsumeOptions,
  WorkHandler,
  WorkItem,
  WorkQueueConsumer,
} from '@rollkeeper/runtime/work-queue/work-queue';

/** The dependencies of {@link BullMqWorkQueueConsumer}. */
export interface BullMqWorkQueueConsumerDependencies<Started extends object = object> {
  queue: BullMqWorkQueue<Started>;
  logger?: Logger;
}

type QueueJob = Job<QueueJobData, unknown, QueueJobName>;
type QueueWorker = ObservedWorker<QueueJobData, unknown, QueueJobName>;

/** Pause before restarting a worker that failed to start. */
const RESTART_DELAY_MS = 250;
/** Without a connection to Redis, closing is abandoned after this time. */
const CLOSE_GRACE_MS = 500;

/**
 * Consumes a {@link BullMqWorkQueue}, on any number of replicas.
 *
 * A key whose worker dies runs again after at most `lockDurationMs` + 2 × `stalledIntervalMs` (2.6 s). The same path is
 * used on purpose when a run ends without a decision, for example because Redis was down: the job is left as it is
 * (BullMQ's WaitingError), its lock expires, and a worker runs it again.
 */
export class BullMqWorkQueueConsumer<Started extends object = object> implements WorkQueueConsumer<
  WorkItem & Partial<Started>
> {
  private readonly queue: BullMqWorkQueue<Started>;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly guard: BullMqLockGuard;
  private readonly running: RunningWork;
  private readonly steps: ConsumerSteps<Started>;
  private connection: RedisConnection | undefined;
  private started = false;
  private tending: BullMqTending | undefined;
  private worker: QueueWorker | undefined;

  constructor(dependencies: BullMqWorkQueueConsumerDependencies<Started>) {
    this.queue = dependencies.queue;
    this.clock = dependencies.queue.clock;
    this.logger = (dependencies.logger ?? silentLogger).child({ queue: this.queue.name });
    this.guard = new BullMqLockGuard(this.clock, this.queue.options.lockDurationMs);
    this.running = new RunningWork(this.clock);
    this.steps = new ConsumerSteps(this.queue);
  }

  get isConsuming(): boolean {
    if (this.tending?.isPaused || !this.worker || this.worker.isPaused()) return false;
    return this.worker.isRunning() && this.connection?.status === 'ready';
  }

  async run(
    handler: WorkHandler<WorkItem & Partial<Started>>,
    options: ConsumeOptions,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.started) throw new IllegalStateError(`the consumer of ${this.queue.name} is already running`);
    this.started = true;
    const { clock, logger, queue, running } = this;
    const { precedence = ALWAYS_FIRST } = options;
    const takeOver = async (): Promise<void> => this.worker?.takeOver();
    this.tending = new BullMqTending({ queue, clock, logger, precedence, running, takeOver });
    try {
      await Promise.all([this.tending.run(signal), this.runWorkers(handler, options, signal)]);
    } finally {
      this.started = false;
    }
  }

  /** Runs one worker after another until aborted. */
  private async runWorkers(
    handler: WorkHandler<WorkItem & Partial<Started>>,
    options: ConsumeOptions,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.runWorker(handler, options, signal);
      } catch (error) {
        if (isAborted(signal)) return;
        this.logger.warn('the queue worker failed and is started again', { error });
      }
      await pause(this.clock, RESTART_DELAY_MS, signal);
    }
  }

  /** One worker's life: until the signal aborts and its handlers have ended, or until it breaks. */
  private async runWorker(
    handler: WorkHandler<WorkItem & Partial<Started>>,
    { concurrency, precedence = ALWAYS_FIRST }: ConsumeOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const connection = createRedisConnection({
      url: this.queue.redisUrl,
      connectionName: `rollkeeper-worker-${this.queue.name}`,
      mode: 'blocking',
      logger: this.logger,
    });
    this.connection = connection;
    const connections = withCopies(connection);
    const drainTimeout = new AbortController();
    let worker: QueueWorker | undefined;
    try {
      // BullMQ gives up if its first connection attempt fails, so it gets ours only after Redis has answered.
      await untilAborted(connection.ping(), signal);
      if (signal.aborted) return;
      worker = this.createWorker(connection, drainTimeout.signal, handler, {
        concurrency,
        taking: this.takingRule(precedence, signal),
      });
      this.worker = worker;
      const loop = worker.run();
      await untilAborted(loop, signal);
    } finally {
      if (worker) await this.closeWorker(worker, connection, drainTimeout);
      this.worker = undefined;
      // A connection already closed would keep the process alive until the close times out.
      for (const each of connections) if (each.status !== 'end') each.disconnect();
    }
  }

  private createWorker(
    connection: RedisConnection,
    drainTimeout: AbortSignal,
    handler: WorkHandler<WorkItem & Partial<Started>>,
    { concurrency, taking }: { readonly concurrency: number; readonly taking: TakingRule },
  ): QueueWorker {
    const { lockDurationMs, stalledIntervalMs } = this.queue.options;
    const worker: QueueWorker = new ObservedWorker(
      this.queue.name,
      (job: QueueJob) => this.process(job, drainTimeout, handler),
      {
        connection,
        prefix: this.queue.prefix,
        autorun: false,
        concurrency,
        lockDuration: lockDurationMs,
        // BullMQ checks twice per renew time, so a lock is renewed after a sixth to a third of its duration.
        lockRenewTime: lockDurationMs / 3,
        stalledInterval: stalledIntervalMs,
        // BullMqTending looks for them, and only while a key is active.
        skipStalledCheck: true,
        // A key stays, no matter how often its worker dies.
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        drainDelay: DRAIN_DELAY_S,
        runRetryDelay: RESTART_DELAY_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
      this.guard,
      () => this.clock.monotonicNow(),
      taking,
      this.steps,
    );
    worker.on('error', (error) => this.logger.warn('bullmq worker error', { error }));
    return worker;
  }

  /** A replica without precedence checks now and then whether the others keep up; gaining precedence ends the wait. */
  private takingRule(precedence: Precedence, signal: AbortSignal): TakingRule {
    const { spreadAfterMs } = this.queue.options;
    return {
      takesAtOnce: () => precedence.isFirst || spreadAfterMs === 0,
      isWanted: () => this.queue.wantsHelp(),
      untilNextLook: async () => {
        const first = new AbortController();
        const unsubscribe = precedence.onChange(() => first.abort());
        const wait = new LinkedAbort(signal, first.signal);
        try {
          await pause(this.clock, spreadAfterMs, wait.signal);
        } finally {
          wait.close();
          unsubscribe();
        }
      },
    };
  }

  /**
   * Lets BullMQ's worker close, which waits for running handlers but hangs while Redis is down. Closing is abandoned
   * once no handler is running and there is no connection or no time left.
   */
  private async closeWorker(
    worker: QueueWorker,
    connection: RedisConnection,
    drainTimeout: AbortController,
  ): Promise<void> {
    const { drainTimeoutMs } = this.queue.options;
    const startedAtMs = this.clock.monotonicNow();
    const timer = this.clock.setTimeout(
      () => drainTimeout.abort(new ShutdownError(`${this.queue.name}: stopping took too long`)),
      drainTimeoutMs,
    );
    const closed = new AbortController();
    const closing = worker.close().finally(() => closed.abort());
    const watch = new AbortController();
    const hopeless = async (): Promise<void> => {
      while (!closed.signal.aborted) {
        await this.clock.sleep(CLOSE_GRACE_MS, watch.signal);
        const late = this.clock.monotonicNow() - startedAtMs > drainTimeoutMs + CLOSE_GRACE_MS;
        if (this.running.size === 0 && (late || connection.status !== 'ready')) return;
      }
    };
    try {
      await Promise.race([closing, hopeless().catch(() => closing)]);
    } finally {
      timer.cancel();
      watch.abort();
      if (!isAborted(closed.signal)) worker.disconnect().catch(() => undefined);
      closing.catch(() => undefined);
    }
  }

  private async process(
    job: QueueJob,
    drainTimeout: AbortSignal,
    handler: WorkHandler<WorkItem & Partial<Started>>,
  ): Promise<void> {
    const { data } = job;
    // A job whose hash was lost with a part of Redis has no data; the sweep finds its key.
    if (typeof data.key !== 'string') return;
    if ((data.v ?? 1) > JOB_FORMAT) this.leaveToNewer(data);
    if ('due' in data) return this.fireTimer(data.key, data.due);
    const jobId = job.id ?? '';
    const takenAtMs = job.processedOn ?? this.clock.now();
    const lockSignal = this.guard.track(jobId, data.key, takenAtMs);
    try {
      const begun = this.steps.begunOf(jobId);
      const { atEnd, item } = await this.leaveOnFailure(() => this.queue.takeItem(data.key, data.add, begun));
      if (isAborted(lockSignal)) throw new WaitingError();
      this.queue.metrics.queueDuration(this.queue.name, Math.max(this.clock.now() - item.readySinceMs, 0));
      await this.work(item, handler, lockSignal, drainTimeout).catch((error) =>
        this.endAlone(atEnd(), error),
      );
      // A decision that was made after the lock was lost does not count: another worker may have decided otherwise.
      if (isAborted(lockSignal)) await this.endAlone(atEnd(), new WaitingError());
      this.steps.endWith(jobId, atEnd());
    } finally {
      this.guard.untrack(jobId);
    }
  }

  /** The job is not completed, and what its run has left to do is done without it. */
  private async endAlone(end: EndOfRun | undefined, reason: unknown): Promise<never> {
    await end?.alone().catch((error: unknown) => this.logger.warn('a run could not be ended', { error }));
    throw reason;
  }

  private async work(
    item: WorkItem & Partial<Started>,
    handler: WorkHandler<WorkItem & Partial<Started>>,
    lockSignal: AbortSignal,
    drainTimeout: AbortSignal,
  ): Promise<void> {
    const end = this.running.start();
    this.tending?.started();
    const either = new LinkedAbort(lockSignal, drainTimeout);
    try {
      await handler(item, either.signal);
    } catch (error) {
      this.logger.error('a handler rejected; the key is added again', { error, key: item.key });
      if (lockSignal.aborted) return;
      await this.leaveOnFailure(async () => {
        if (isCancellation(error)) await this.queue.add(item.key, { reason: 'retry' });
        else await this.queue.addRateLimited(item.key, error);
      });
    } finally {
      either.close();
      this.queue.metrics.workDuration(this.queue.name, end());
    }
  }

  /** The job's lock expires, and eventually a replica of the newer release takes it. */
  private leaveToNewer({ key, v }: QueueJobData): never {
    this.logger.warn('leaving a job of a newer release to its replicas', { key, format: v });
    throw new WaitingError();
  }

  private fireTimer(key: string, due: string): Promise<void> {
    return this.leaveOnFailure(() => this.queue.fireTimer(key, due));
  }

  /** Runs `action`. If it fails, the job is left to be detected as stalled and run again. */
  private async leaveOnFailure<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      this.logger.warn('Redis was unavailable while a job was running; the job will run again', { error });
      throw new WaitingError();
    }
  }
}
