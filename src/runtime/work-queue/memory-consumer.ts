import type { TimerHandle } from '@rollkeeper/machinery/clock';
import { aborted } from '@rollkeeper/machinery/cancellation';
import { IllegalStateError, ShutdownError, isCancellation } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { MemoryWorkQueue } from './memory-work-queue.js';
import { RunningWork } from './running-work.js';
import { ALWAYS_FIRST } from './precedence.js';
import type { ConsumeOptions, WorkHandler, WorkItem, WorkQueueConsumer } from './work-queue.js';

/** Consumes a {@link MemoryWorkQueue}; several on one queue simulate several replicas. */
export class MemoryWorkQueueConsumer implements WorkQueueConsumer {
  private readonly running: RunningWork;
  private started = false;
  private consuming = false;

  constructor(
    private readonly queue: MemoryWorkQueue,
    private readonly logger: Logger = silentLogger,
  ) {
    this.running = new RunningWork(queue.clock);
  }

  get isConsuming(): boolean {
    return this.consuming;
  }

  async run(handler: WorkHandler, options: ConsumeOptions, signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError(`the consumer of ${this.queue.name} is already running`);
    this.started = true;
    try {
      if (!signal.aborted) await this.consume(handler, options, signal);
    } finally {
      this.started = false;
    }
  }

  private async consume(
    handler: WorkHandler,
    { concurrency, precedence = ALWAYS_FIRST }: ConsumeOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const drainTimeout = new AbortController();
    const runs = new Set<Promise<void>>();
    let look: TimerHandle | undefined;
    const takeMore = (): void => {
      look?.cancel();
      look = undefined;
      while (this.consuming && runs.size < concurrency) {
        const leftMs = precedence.isFirst ? 0 : this.queue.untilHelpIsWantedMs();
        if (leftMs === undefined) return;
        if (leftMs > 0) {
          look = this.queue.clock.setTimeout(takeMore, leftMs);
          return;
        }
        const item = this.queue.takeNext();
        if (!item) return;
        const run = this.work(item, handler, drainTimeout.signal).finally(() => {
          runs.delete(run);
          this.queue.done(item.key);
        });
        runs.add(run);
      }
    };
    const stopListening = [this.queue.onWork(takeMore), precedence.onChange(takeMore)];
    this.consuming = true;
    takeMore();
    await aborted(signal);
    this.consuming = false;
    look?.cancel();
    for (const stop of stopListening) stop();
    await this.drain(runs, drainTimeout);
  }

  private async drain(runs: ReadonlySet<Promise<void>>, drainTimeout: AbortController): Promise<void> {
    const timer = this.queue.clock.setTimeout(
      () => drainTimeout.abort(new ShutdownError(`${this.queue.name}: stopping took too long`)),
      this.queue.options.drainTimeoutMs,
    );
    await Promise.all(runs);
    timer.cancel();
  }

  private async work(item: WorkItem, handler: WorkHandler, signal: AbortSignal): Promise<void> {
    const end = this.running.start();
    try {
      await handler(item, signal);
    } catch (error) {
      this.logger.error('a handler rejected', { error, queue: this.queue.name, key: item.key });
      if (isCancellation(error)) await this.queue.add(item.key, { reason: 'retry' });
      else await this.queue.addRateLimited(item.key, error);
    } finally {
      this.queue.metrics.workDuration(this.queue.name, end());
    }
  }
}
