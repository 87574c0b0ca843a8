import { LinkedAbort, aborted, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { HeldLock } from '@rollkeeper/machinery/concurrency';
import { IllegalStateError, ShutdownError, isCancellation } from '@rollkeeper/machinery/errors';
import type {
  ConsumeOptions,
  WorkHandler,
  WorkQueue,
  WorkQueueConsumer,
} from '@rollkeeper/runtime/work-queue';
import type { HandedOut, ServedQueue } from './served-queue.js';

/** A queue in another process, as its consumer asks for it. Every call may fail. */
export interface QueueCalls extends Pick<ServedQueue, 'renew' | 'finish'> {
  /** @param signal ends the wait of the consumer, and nothing else */
  take(waitMs: number, signal: AbortSignal): Promise<HandedOut | undefined>;
}

interface SimulatedConsumerParts {
  readonly name: string;
  readonly clock: Clock;
  readonly calls: QueueCalls;
  readonly queue: Pick<WorkQueue, 'add' | 'addRateLimited'>;
  readonly lockDurationMs: number;
  readonly drainTimeoutMs: number;
}

/** How long the queue holds a request for a key until it answers that there is none, milliseconds. */
const WAIT_MS = 5000;
/** Before another try when the queue does not answer, milliseconds. */
const RETRY_MS = 250;
/** Renewals for each duration of the hold. */
const RENEWALS = 3;

/** Consumes a {@link ServedQueue} over a network. */
export class SimulatedConsumer implements WorkQueueConsumer {
  isConsuming = false;
  private started = false;

  constructor(private readonly parts: SimulatedConsumerParts) {}

  async run(handler: WorkHandler, { concurrency }: ConsumeOptions, signal: AbortSignal): Promise<void> {
    if (this.started) throw new IllegalStateError(`the consumer of ${this.parts.name} is already running`);
    this.started = true;
    this.isConsuming = true;
    const drainTimeout = new AbortController();
    const runs = new Set<Promise<void>>();
    const takers = Array.from({ length: Math.min(concurrency, 2) }, () =>
      this.takeUntil(signal, async (taken) => {
        const run = this.work(taken, handler, drainTimeout.signal).finally(() => runs.delete(run));
        runs.add(run);
        while (runs.size >= concurrency && !signal.aborted) await Promise.race([...runs, aborted(signal)]);
      }),
    );
    await aborted(signal);
    this.isConsuming = false;
    const { clock, drainTimeoutMs, name } = this.parts;
    const timer = clock.setTimeout(
      () => drainTimeout.abort(new ShutdownError(`${name}: stopping took too long`)),
      drainTimeoutMs,
    );
    await Promise.all([...takers, ...runs]);
    await Promise.all(runs);
    timer.cancel();
    this.started = false;
  }

  private async takeUntil(signal: AbortSignal, onTaken: (taken: HandedOut) => Promise<void>): Promise<void> {
    const { calls, clock } = this.parts;
    while (!isAborted(signal)) {
      let taken: HandedOut | undefined;
      try {
        taken = await calls.take(WAIT_MS, signal);
      } catch {
        await pause(clock, RETRY_MS, signal);
        continue;
      }
      // A key that arrives after the end is left to expire: it runs elsewhere.
      if (taken && !isAborted(signal)) await onTaken(taken);
    }
  }

  private async work({ item, run }: HandedOut, handler: WorkHandler, signal: AbortSignal): Promise<void> {
    const { clock, lockDurationMs, name, queue } = this.parts;
    const hold = new HeldLock(
      { clock, durationMs: lockDurationMs, expiredMessage: `the hold on a key of ${name} expired` },
      clock.monotonicNow(),
    );
    const either = new LinkedAbort(signal, hold.signal);
    const over = new AbortController();
    const keeping = this.keep(run, hold, over.signal);
    let isDecided = true;
    try {
      await handler(item, either.signal);
    } catch (error) {
      isDecided = await this.handBack(item.key, error, queue);
    }
    over.abort();
    hold.letGo();
    either.close();
    await keeping;
    // Left as it is, its hold expires, and it runs again.
    if (!isDecided || hold.signal.aborted) return;
    await this.parts.calls.finish(run).catch(() => undefined);
  }

  private async handBack(
    key: string,
    error: unknown,
    queue: SimulatedConsumerParts['queue'],
  ): Promise<boolean> {
    try {
      if (isCancellation(error)) await queue.add(key, { reason: 'retry' });
      else await queue.addRateLimited(key, error);
      return true;
    } catch {
      return false;
    }
  }

  /** Renews the hold until the run is over or the hold is lost. Never rejects. */
  private async keep(run: number, hold: HeldLock, over: AbortSignal): Promise<void> {
    const { calls, clock, lockDurationMs } = this.parts;
    while (!hold.signal.aborted && (await pause(clock, lockDurationMs / RENEWALS, over))) {
      const sentAtMs = clock.monotonicNow();
      try {
        if (!(await calls.renew(run))) return hold.lose('the key was handed to another consumer');
        hold.renewed(sentAtMs);
      } catch {
        // The next one may get through.
      }
    }
  }
}
