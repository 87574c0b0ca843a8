import type { Meter } from '@opentelemetry/api';
import type { WorkQueueGauges, WorkQueueMetrics } from '../work-queue/index.js';
import { METRICS, QUEUE_BUCKETS } from './metric-names.js';

/** Queue metrics with client-go's names, initialized to zero. Durations are exported in seconds. */
export function createWorkQueueMetrics(meter: Meter, queues: readonly string[]): WorkQueueMetrics {
  const adds = meter.createCounter(METRICS.workqueueAdds, { description: 'Adds handled by the queue' });
  const retries = meter.createCounter(METRICS.workqueueRetries, {
    description: 'Retries handled by the queue',
  });
  const parkings = meter.createCounter(METRICS.workqueueParkings, { description: 'Keys that were parked' });
  const repairs = meter.createCounter(METRICS.workqueueRepaired, {
    description:
      'Waiting keys that had lost their job, and were given another; expected only after an outage of Redis',
  });
  const advice = { explicitBucketBoundaries: QUEUE_BUCKETS };
  const queueDuration = meter.createHistogram(METRICS.workqueueQueueDuration, {
    description: 'Seconds that a key waited before it was worked on',
    advice,
  });
  const workDuration = meter.createHistogram(METRICS.workqueueWorkDuration, {
    description: 'Seconds that one run on a key took',
    advice,
  });
  const latest = observeLatest(meter, queues);
  for (const name of queues)
    for (const counter of [adds, retries, parkings, repairs]) counter.add(0, { name });
  return {
    added: (name) => adds.add(1, { name }),
    retried: (name) => retries.add(1, { name }),
    parked: (name) => parkings.add(1, { name }),
    repaired: (name, keys) => repairs.add(keys, { name }),
    queueDuration: (name, durationMs) => queueDuration.record(durationMs / 1000, { name }),
    workDuration: (name, durationMs) => workDuration.record(durationMs / 1000, { name }),
    gauges: (name, gauges) => void latest.set(name, gauges),
  };
}

/** Gauges of the last state that each queue reported. */
function observeLatest(meter: Meter, queues: readonly string[]): Map<string, WorkQueueGauges> {
  const zero: WorkQueueGauges = { depth: 0, parked: 0, unfinishedWorkMs: 0, longestRunningMs: 0 };
  const latest = new Map(queues.map((name) => [name, zero]));
  const observe = (metric: string, description: string, read: (gauges: WorkQueueGauges) => number): void => {
    meter.createObservableGauge(metric, { description }).addCallback((result) => {
      for (const [name, gauges] of latest) result.observe(read(gauges), { name });
    });
  };
  observe(METRICS.workqueueDepth, 'Keys that wait in the queue, over all replicas', ({ depth }) => depth);
  observe(METRICS.workqueueParked, 'Keys that are parked, over all replicas', ({ parked }) => parked);
  observe(
    METRICS.workqueueUnfinishedWork,
    "Seconds of work in progress by this replica's workers, summed up",
    ({ unfinishedWorkMs }) => unfinishedWorkMs / 1000,
  );
  observe(
    METRICS.workqueueLongestRunning,
    "Seconds that this replica's longest run has taken so far",
    ({ longestRunningMs }) => longestRunningMs / 1000,
  );
  return latest;
}
