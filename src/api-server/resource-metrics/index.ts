export { handleMetrics } from './handle-metrics.js';
export { findMetricsKind, METRICS_TYPES } from './metrics-kinds.js';
