import type { QueuePair } from '../../kit/operator/coordination.js';

/** Makes the queue of a controller; connections are opened by the first use. */
export interface QueueFactory {
  /** In Redis, for all replicas. */
  readonly shared: (controller: string) => QueuePair;
  /** In this process. */
  readonly local: (controller: string) => QueuePair;
}
