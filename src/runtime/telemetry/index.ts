export { createApiClientMetrics } from './api-metrics.js';
export {
  createControllerMetrics,
  observeReadability,
  createEventRecorderMetrics,
  createLeaderElectionMetrics,
} from './controller-metrics.js';
export type { ResourceReadability } from './controller-metrics.js';
export { createWorkQueueMetrics } from './work-queue-metrics.js';
export { observeSlots } from './slot-metrics.js';
export { METRICS, QUEUE_BUCKETS, RECONCILE_BUCKETS, REQUEST_BUCKETS } from './metric-names.js';
export type { Metrics, Tracing } from './ports.js';
