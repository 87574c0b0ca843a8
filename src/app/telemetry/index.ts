export { createApiServerMetrics } from './api-server-metrics.js';
export { createRolloutMetrics } from './rollout-metrics.js';
