import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { QueuePair } from '../actor-queue/index.js';
import type { QueueTuning, WorkQueueMetrics } from '../work-queue/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';

export interface LocalQueueParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default none */
  readonly metrics?: WorkQueueMetrics;
  /** How long keys in progress may continue after a stop, milliseconds. */
  readonly drainTimeoutMs: number;
}

/** The queue of one controller inside this process; see `ControllerDefinition.queue`. */
export function localQueue(name: string, parts: LocalQueueParts, tuning: QueueTuning = {}): QueuePair {
  const { clock, drainTimeoutMs, logger, metrics } = parts;
  const queue = new MemoryWorkQueue({ name, clock, metrics, options: { ...tuning, drainTimeoutMs } });
  return { queue, consumer: new MemoryWorkQueueConsumer(queue, logger), dropKeys: () => queue.clear() };
}
