import type { WorkQueue, WorkQueueConsumer } from '../../kit/work-queue/index.js';

/** The two sides of one controller's queue. */
export interface QueuePair {
  readonly queue: WorkQueue;
  readonly consumer: WorkQueueConsumer;
}

/** Makes the queue of a controller; connections are opened by the first use. */
export type QueueFactory = (controller: string) => QueuePair;
