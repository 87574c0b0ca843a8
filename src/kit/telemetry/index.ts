export { createApiClientMetrics } from './api-metrics.js';
export {
  createControllerMetrics,
  observeReadability,
  createEventRecorderMetrics,
  createLeaderElectionMetrics,
} from './controller-metrics.js';
export type { ResourceReadability } from './controller-metrics.js';
export { createWorkQueueMetrics } from './work-queue-metrics.js';
export { METRICS, QUEUE_BUCKETS, RECONCILE_BUCKETS, REQUEST_BUCKETS } from './metric-names.js';
export type { Metrics } from './metrics.js';
export type { Tracing, TracingOptions } from './tracing.js';
export type { ShownSpan } from './recent-traces.js';
