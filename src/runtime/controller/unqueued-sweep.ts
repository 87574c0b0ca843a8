import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { LeaderAdds, WorkQueueInspector } from '../work-queue/index.js';
import type { DueWork } from './controller-definition.js';
import type { ControllerMetrics } from './controller-metrics.js';

export interface UnqueuedSweepOptions {
  readonly controller: string;
  readonly queue: Pick<WorkQueueInspector, 'inspectKey'>;
  /** Due work, as the caches show it. */
  readonly due: () => Iterable<DueWork>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<ControllerMetrics, 'unqueued'>;
  /** Milliseconds between two looks. @default 10000 */
  readonly intervalMs?: number;
}

/** Limit of suspects looked up in the queue at a time; the rest follows at the next look. */
const LOOKED_UP_AT_MOST = 50;

/**
 * The leader's safety net against lost keys: looks now and then for objects that need work, have not changed since the
 * previous look, and whose key the queue does not know - not waiting, running, delayed or parked. Each is counted (the
 * count is expected to stay 0) and added.
 *
 * Cheap: one pass over the cache, and a queue look-up only for objects unchanged for a whole interval.
 */
export class UnqueuedSweep {
  private readonly intervalMs: number;
  /** Objects that needed work at the last look: resourceVersion by key. */
  private suspects = new Map<string, string>();
  private isRunning = false;

  constructor(private readonly options: UnqueuedSweepOptions) {
    this.intervalMs = options.intervalMs ?? 10_000;
  }

  /**
   * Runs until aborted, with the adds of one term; may be run again after that.
   * @throws IllegalStateError while it runs
   */
  async run(adds: LeaderAdds, signal: AbortSignal): Promise<void> {
    if (this.isRunning) throw new IllegalStateError('the sweep runs already');
    this.isRunning = true;
    const { clock, logger } = this.options;
    this.suspects.clear();
    while (!signal.aborted) {
      if (!(await pause(clock, this.intervalMs, signal))) break;
      await this.look(adds, signal).catch((error: unknown) =>
        logger.warn('the sweep of the queue failed', { error }),
      );
    }
    this.isRunning = false;
  }

  /** One look. Returns the keys that had to be added. */
  async look(adds: LeaderAdds, signal: AbortSignal): Promise<readonly string[]> {
    const before = this.suspects;
    this.suspects = new Map();
    const stillThere: string[] = [];
    for (const { ref, resourceVersion: version = '' } of this.options.due()) {
      const key = keyOf(ref);
      this.suspects.set(key, version);
      if (before.get(key) === version) stillThere.push(key);
    }
    const lost: string[] = [];
    for (const key of stillThere.slice(0, LOOKED_UP_AT_MOST))
      if (!signal.aborted && (await this.isUnknown(key))) lost.push(key);
    for (const key of lost) if (!signal.aborted) await this.repair(key, adds);
    return lost;
  }

  private async isUnknown(key: string): Promise<boolean> {
    const { delayed, hasJob, parked, waiting } = await this.options.queue.inspectKey(key);
    return !hasJob && !waiting && !delayed && !parked;
  }

  private async repair(key: string, adds: LeaderAdds): Promise<void> {
    const { controller, logger, metrics } = this.options;
    metrics.unqueued(controller);
    logger.error('a key had to be queued and was not; it is added', { controller, key });
    await adds.add(key, { reason: 'sweep', priority: 'low' });
  }
}
