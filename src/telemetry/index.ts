export { createControllerMetrics } from './controller-metrics.js';
export { createLeaderElectionMetrics } from './leader-election-metrics.js';
export { createWorkQueueMetrics } from './work-queue-metrics.js';
export { METRICS, QUEUE_BUCKETS, RECONCILE_BUCKETS, REQUEST_BUCKETS } from './metric-names.js';
export { createMetrics } from './metrics.js';
export type { Metrics } from './metrics.js';
export { SHUTDOWN_TIMEOUT_MS, startTracing } from './tracing.js';
export type { Tracing, TracingOptions } from './tracing.js';
