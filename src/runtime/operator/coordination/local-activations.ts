import type { ActorRuntime } from '../../activation/index.js';
import { QueuedActivations } from '../../activation/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../../work-queue/index.js';
import type { CoordinationParts } from './coordination.js';
import type { QueueTuning } from '../../work-queue/index.js';

/**
 * The activations of one controller whose keys wait in this process, and nowhere else.
 * @param actors of the coordination: their locks hold everywhere
 */
export function localActivations(
  name: string,
  actors: ActorRuntime,
  { clock, drainTimeoutMs, logger, metrics, queueView = (queue) => queue, random }: CoordinationParts,
  tuning: QueueTuning = {},
): QueuedActivations {
  const queue = new MemoryWorkQueue({ name, clock, metrics, options: { ...tuning, drainTimeoutMs } });
  const consumer = new MemoryWorkQueueConsumer(queue, logger);
  const dropKeys = (): void => queue.endTerm();
  return new QueuedActivations({
    queue: queueView(queue),
    consumer,
    actors,
    clock,
    random,
    logger,
    dropKeys,
  });
}
