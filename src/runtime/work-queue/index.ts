export { MemoryWorkQueueConsumer } from './memory-consumer.js';
export { MemoryWorkQueue } from './memory-work-queue.js';
export type { MemoryWorkQueueDependencies } from './memory-work-queue.js';
export { MAX_TRACE_LINKS } from './merge-traces.js';
export type { AddTraces } from './merge-traces.js';
export { mergeAdds, rankOf } from './pending-add.js';
export type {
  DelayedKey,
  KeyView,
  ParkedKey,
  WaitingKey,
  WorkQueueCounts,
  WorkQueueInspector,
  WorkQueueTending,
  WorkQueueView,
} from './queue-inspection.js';
export { ALWAYS_FIRST, LeaderPrecedence } from './precedence.js';
export type { Precedence } from './precedence.js';
export { exponentialBackoffMs, reserveToken } from './rate-limiters.js';
export type { BackoffOptions, TokenBucketOptions, TokenBucketState } from './rate-limiters.js';
export { mayBegin } from './term-fence.js';
export { noWorkQueueMetrics } from './work-queue-metrics.js';
export type { WorkQueueGauges, WorkQueueMetrics } from './work-queue-metrics.js';
export { compileWorkQueueOptions } from './work-queue.options.js';
export type { CompiledWorkQueueOptions, QueueTuning, WorkQueueOptions } from './work-queue.options.js';
export type {
  AddOptions,
  ConsumeOptions,
  BegunTerm,
  LeaderAdds,
  LeaderTerm,
  Priority,
  ReconcileReason,
  RetryOptions,
  WorkHandler,
  WorkItem,
  WorkQueue,
  WorkQueueConsumer,
} from './work-queue.js';
