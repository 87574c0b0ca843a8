import type { Meter } from '@opentelemetry/api';
import type { RolloutMetrics } from '../rollout-durations/index.js';
import { METRICS } from '../../kit/telemetry/index.js';

/** Seconds: from a rollout of one pod to one of an hour. */
const ROLLOUT_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];

/** How long rollouts take, told by the leader. */
export function createRolloutMetrics(meter: Meter): RolloutMetrics {
  const duration = meter.createHistogram(METRICS.rolloutDuration, {
    description: 'Seconds from the change of a Deployment until its rollout ended, by outcome',
    advice: { explicitBucketBoundaries: ROLLOUT_BUCKETS },
  });
  return { ended: (outcome, durationMs) => duration.record(durationMs / 1000, { outcome }) };
}
