export { MemoryWorkQueueConsumer } from './memory-consumer.js';
export { MemoryWorkQueue } from './memory-work-queue.js';
export type { MemoryWorkQueueDependencies } from './memory-work-queue.js';
export { exponentialBackoffMs, reserveToken } from './rate-limiters.js';
export type { BackoffOptions, TokenBucketOptions, TokenBucketState } from './rate-limiters.js';
export { noWorkQueueMetrics } from './work-queue-metrics.js';
export type { WorkQueueGauges, WorkQueueMetrics } from './work-queue-metrics.js';
export { compileWorkQueueOptions } from './work-queue.options.js';
export type { CompiledWorkQueueOptions, WorkQueueOptions } from './work-queue.options.js';
export { MAX_TRACE_LINKS } from './work-queue.js';
export type {
  AddOptions,
  DelayedKey,
  KeyView,
  LeaderAdds,
  LeaderTerm,
  ParkedKey,
  Priority,
  ReconcileReason,
  RetryOptions,
  WaitingKey,
  WorkHandler,
  WorkItem,
  WorkQueue,
  WorkQueueConsumer,
  WorkQueueCounts,
  WorkQueueView,
} from './work-queue.js';
