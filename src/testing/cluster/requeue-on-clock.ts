import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ControllerQueue } from '@rollkeeper/runtime/actor-queue';
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
  const requeues = new Map<string, Requeue>();
  const cancel = (key: string): boolean => {
    requeues.get(key)?.timer.cancel();
    return requeues.delete(key);
  };
  const addLater = (key: string, delayMs: number, options: AddOptions): void => {
    const dueMs = clock.monotonicNow() + delayMs;
    const earlier = requeues.get(key);
    if (earlier && earlier.dueMs <= dueMs) return;
    cancel(key);
    const timer = clock.setTimeout(() => {
      requeues.delete(key);
      queue
        .add(key, options)
        .catch((error: unknown) => logger.error('a key could not be added again', { key, error }));
    }, delayMs);
    requeues.set(key, { dueMs, timer });
  };
  const delayedOf = (key: string): DelayedKey | undefined => {
    const requeue = requeues.get(key);
    if (!requeue) return undefined;
    const dueMs = clock.now() + requeue.dueMs - clock.monotonicNow();
    return { key, dueMs, reason: 'requeue', failures: 0 };
  };
  const viewOf = (view: KeyView, key: string): KeyView => ({
    ...view,
    delayed: view.delayed ?? delayedOf(key),
  });
  return {
    name: queue.name,
    add: (key, options) => queue.add(key, options),
    beginTerm: (term) => queue.beginTerm(term),
    addAfter: async (key, delayMs, options = {}) => {
      if (options.reason !== 'requeue' || delayMs <= 0) return queue.addAfter(key, delayMs, options);
      addLater(key, delayMs, options);
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
      const ours = [...requeues.keys()].flatMap((key) => delayedOf(key) ?? []);
      const delayed = [...view.delayed, ...ours].sort((a, b) => a.dueMs - b.dueMs).slice(0, limit);
      return { ...view, delayed };
    },
    inspectKey: async (key) => viewOf(await queue.inspectKey(key), key),
    purge: async (key) => {
      const wasOurs = cancel(key);
      return (await queue.purge(key)) || wasOurs;
    },
    close: () => {
      for (const key of [...requeues.keys()]) cancel(key);
      return queue.close();
    },
  };
}
