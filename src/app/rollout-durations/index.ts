export { RolloutDurations } from './rollout-durations.js';
export type { RolloutMetrics, RolloutOutcome } from './rollout-durations.js';
