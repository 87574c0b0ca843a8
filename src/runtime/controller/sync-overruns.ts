import type { WorkLimit } from '../activation/activation.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import { DEFAULT_SYNC_TIMEOUT_MS } from '../defaults.js';
import type { ControllerMetrics } from './controller-metrics.js';

/**
 * How long to wait for a sync after its abort, milliseconds. Longer than the 32 s limit of a request: when its key
 * passes to others, none of its writes is in flight, and as it may start none, there will be none.
 */
export const ABANDON_AFTER_MS = 35_000;

interface SyncOverrunsOptions {
  readonly controller: string;
  /** @default {@link DEFAULT_SYNC_TIMEOUT_MS} */
  readonly syncTimeoutMs?: number;
  /** @default {@link ABANDON_AFTER_MS} */
  readonly abandonAfterMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
}

/** The timing of one sync. */
export interface TimedSync {
  /** For the activation. */
  readonly limit: WorkLimit;
  /** Runs `work` and notices its end. */
  run<R>(work: () => Promise<R>): Promise<R>;
  /** The activation has ended, with or without the work. */
  ended(): void;
}

/** The time limit of syncs: logs and counts those that exceed it, and those that do not end even when cancelled. */
export class SyncOverruns {
  constructor(private readonly options: SyncOverrunsOptions) {}

  time(key: string): TimedSync {
    const { clock, controller, logger, metrics } = this.options;
    const { abandonAfterMs: graceMs = ABANDON_AFTER_MS, syncTimeoutMs: timeoutMs = DEFAULT_SYNC_TIMEOUT_MS } =
      this.options;
    const startedMs = clock.monotonicNow();
    const fields = () => ({ controller, key, elapsedMs: Math.round(clock.monotonicNow() - startedMs) });
    let state: 'before' | 'working' | 'abandoned' | 'over' = 'before';
    const onTimeout = (): void => {
      metrics.timedOut(controller);
      logger.warn('a sync exceeded its timeout and was cancelled', { ...fields(), timeoutMs });
    };
    const onWorkEnd = (): void => {
      if (state === 'abandoned') {
        metrics.abandoned(controller, -1);
        logger.warn('a sync that had been abandoned has ended after all', fields());
      }
      state = 'over';
    };
    return {
      limit: { timeoutMs, graceMs, onTimeout },
      run: async (work) => {
        state = 'working';
        try {
          return await work();
        } finally {
          onWorkEnd();
        }
      },
      ended: () => {
        if (state !== 'working') return;
        state = 'abandoned';
        metrics.abandoned(controller, 1);
        logger.error(
          'a sync did not stop when it was cancelled; its writes are refused from now on, and its key is released',
          fields(),
        );
      },
    };
  }
}
