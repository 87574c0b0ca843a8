import type { Clock } from '../../base/clock/index.js';
import type { Logger } from '../../base/logging/index.js';
// Not through the door, which loads BullMQ: what lives in memory is there sooner without.
import { MemoryWorkQueueConsumer } from '../work-queue/memory-consumer.js';
import { MemoryWorkQueue } from '../work-queue/memory-work-queue.js';
import type { WorkQueueMetrics } from '../work-queue/work-queue-metrics.js';
import type { QueuePair } from './coordination.js';

export interface LocalQueueParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default none */
  readonly metrics?: WorkQueueMetrics;
  /** How long running keys may go on after a stop, milliseconds. */
  readonly drainTimeoutMs: number;
}

/** The queue of one controller inside this process; see `ControllerDefinition.queue`. */
export function localQueue(name: string, parts: LocalQueueParts): QueuePair {
  const { clock, drainTimeoutMs, logger, metrics } = parts;
  const queue = new MemoryWorkQueue({ name, clock, metrics, options: { drainTimeoutMs } });
  return { queue, consumer: new MemoryWorkQueueConsumer(queue, logger) };
}
