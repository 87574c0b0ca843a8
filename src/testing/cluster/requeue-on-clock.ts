import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ControllerQueue } from '@rollkeeper/runtime/activation';
import type { AddOptions, DelayedKey, KeyView } from '@rollkeeper/runtime/work-queue';

interface Requeue {
  readonly dueMs: number;
  readonly timer: TimerHandle;
}

/**
 * Wraps `queue` so that `requeueAfterMs` uses another clock than retries: the one that reconcilers compare times with.
 * Within one process, which is all that a test cluster has.
 */
export function requeueOnClock(queue: ControllerQueue, clock: Clock, logger: Logger): ControllerQueue {
  const requeues = new Requeues(queue, clock, logger);
  const viewOf = (view: KeyView, key: string): KeyView => ({
    ...view,
    delayed: view.delayed ?? requeues.delayedOf(key),
  });
  return {
    name: queue.name,
    add: (key, options) => queue.add(key, options),
    beginTerm: (term) => queue.beginTerm(term),
    addAfter: async (key, delayMs, options = {}) => {
      if (options.reason !== 'requeue' || delayMs <= 0) return queue.addAfter(key, delayMs, options);
      requeues.addLater(key, delayMs, options);
    },
    addRateLimited: (key, error, options) => queue.addRateLimited(key, error, options),
    park: (key, error, tryWith) => queue.park(key, error, tryWith),
    forget: (key) => queue.forget(key),
    numRequeues: (key) => queue.numRequeues(key),
    counts: async () => {
      const counts = await queue.counts();
      return { ...counts, delayed: counts.delayed + requeues.size };
    },
    parked: () => queue.parked(),
    inspect: async (limit) => {
      const view = await queue.inspect(limit);
      const delayed = [...view.delayed, ...requeues.delayed()].sort((a, b) => a.dueMs - b.dueMs);
      return { ...view, delayed: delayed.slice(0, limit) };
    },
    inspectKey: async (key) => viewOf(await queue.inspectKey(key), key),
    purge: async (key) => {
      const wasOurs = requeues.cancel(key);
      return (await queue.purge(key)) || wasOurs;
    },
    close: () => {
      requeues.cancelAll();
      return queue.close();
    },
  };
}

/** The keys that come back at a time of `clock`. Of several times for a key, the first counts. */
class Requeues {
  private readonly byKey = new Map<string, Requeue>();

  constructor(
    private readonly queue: Pick<ControllerQueue, 'add'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get size(): number {
    return this.byKey.size;
  }

  addLater(key: string, delayMs: number, options: AddOptions): void {
    const dueMs = this.clock.monotonicNow() + delayMs;
    const earlier = this.byKey.get(key);
    if (earlier && earlier.dueMs <= dueMs) return;
    this.cancel(key);
    const timer = this.clock.setTimeout(() => {
      this.byKey.delete(key);
      this.queue
        .add(key, options)
        .catch((error: unknown) => this.logger.error('a key could not be added again', { key, error }));
    }, delayMs);
    this.byKey.set(key, { dueMs, timer });
  }

  /** @returns whether the key was waiting */
  cancel(key: string): boolean {
    this.byKey.get(key)?.timer.cancel();
    return this.byKey.delete(key);
  }

  cancelAll(): void {
    for (const key of [...this.byKey.keys()]) this.cancel(key);
  }

  delayed(): DelayedKey[] {
    return [...this.byKey.keys()].flatMap((key) => this.delayedOf(key) ?? []);
  }

  delayedOf(key: string): DelayedKey | undefined {
    const requeue = this.byKey.get(key);
    if (!requeue) return undefined;
    const dueMs = this.clock.now() + requeue.dueMs - this.clock.monotonicNow();
    return { key, dueMs, reason: 'requeue', failures: 0 };
  }
}
