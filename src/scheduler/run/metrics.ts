import type { Metrics } from '@rollkeeper/runtime';
import type { TimedPoint } from '../decide/point-timer.js';
import type { QueueName, RefusedPods, SchedulingQueueMetrics } from '../queue/queue-metrics.js';
import { QUEUE_NAMES, noSchedulingQueueMetrics } from '../queue/queue-metrics.js';

type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** The measurements of a scheduler. Durations in milliseconds. */
export interface SchedulerMetrics {
  readonly queue: SchedulingQueueMetrics;
  /** An attempt has ended: with the binding where there was one. */
  attempt(result: AttemptResult, profile: string, durationMs: number): void;
  /** An extension point of a profile has run. */
  point(point: TimedPoint, status: string, profile: string, durationMs: number): void;
  /** The decision alone. */
  decided(durationMs: number): void;
  /** A pod is bound. @param sinceMs since it came into the queue */
  scheduled(attempts: number, sinceMs: number): void;
  preemption(victims: number): void;
  permitWait(result: 'allowed' | 'rejected', durationMs: number): void;
  /** A request to create the claim of a pod's extended resources is answered. */
  claimCreated(status: 'success' | 'failure'): void;
  /** @param read the present numbers */
  watch(read: () => SchedulerGauges): void;
}

interface SchedulerGauges {
  readonly pending: Readonly<Record<QueueName, number>>;
  readonly refused: readonly RefusedPods[];
  readonly nodes: number;
  readonly pods: number;
  readonly assumedPods: number;
}

export const noSchedulerMetrics: SchedulerMetrics = {
  queue: noSchedulingQueueMetrics,
  attempt: () => undefined,
  point: () => undefined,
  decided: () => undefined,
  scheduled: () => undefined,
  preemption: () => undefined,
  permitWait: () => undefined,
  claimCreated: () => undefined,
  watch: () => undefined,
};

/** kube-scheduler's names. */
export const SCHEDULER_METRICS = {
  attempts: 'scheduler_schedule_attempts_total',
  attemptDuration: 'scheduler_scheduling_attempt_duration_seconds',
  algorithmDuration: 'scheduler_scheduling_algorithm_duration_seconds',
  podAttempts: 'scheduler_pod_scheduling_attempts',
  podDuration: 'scheduler_pod_scheduling_sli_duration_seconds',
  pointDuration: 'scheduler_framework_extension_point_duration_seconds',
  pendingPods: 'scheduler_pending_pods',
  unschedulablePods: 'scheduler_unschedulable_pods',
  incomingPods: 'scheduler_queue_incoming_pods_total',
  preemptionAttempts: 'scheduler_preemption_attempts_total',
  preemptionVictims: 'scheduler_preemption_victims',
  permitWait: 'scheduler_permit_wait_duration_seconds',
  cacheSize: 'scheduler_cache_size',
  claimCreates: 'scheduler_resourceclaim_creates_total',
} as const;

const ATTEMPT_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
const POINT_BUCKETS = Array.from({ length: 12 }, (_, power) => 0.0001 * 2 ** power);
const POD_BUCKETS = Array.from({ length: 20 }, (_, power) => 0.01 * 2 ** power);
const RESULTS: readonly AttemptResult[] = ['scheduled', 'unschedulable', 'error'];

/** Metrics with kube-scheduler's names, counters at zero. @param profiles the names of the schedulers */
export function createSchedulerMetrics(
  { meter }: Pick<Metrics, 'meter'>,
  profiles: readonly string[],
): SchedulerMetrics {
  const { attempts, claims, incoming, preemptions } = createCounters(meter);
  const { decisions, durations, permits, podAttempts, pods, points, victims } = createHistograms(meter);
  preemptions.add(0);
  for (const status of ['success', 'failure']) claims.add(0, { status });
  for (const profile of profiles) for (const result of RESULTS) attempts.add(0, { result, profile });
  return {
    queue: { incoming: (queue, event) => incoming.add(1, { queue, event }) },
    attempt(result, profile, durationMs) {
      attempts.add(1, { result, profile });
      durations.record(durationMs / 1000, { result, profile });
    },
    point: (point, status, profile, durationMs) =>
      points.record(durationMs / 1000, { extension_point: point, status, profile }),
    decided: (durationMs) => decisions.record(durationMs / 1000),
    scheduled(count, sinceMs) {
      podAttempts.record(count);
      pods.record(sinceMs / 1000, { attempts: count >= 16 ? '16+' : String(count) });
    },
    preemption(count) {
      preemptions.add(1);
      victims.record(count);
    },
    claimCreated: (status) => claims.add(1, { status }),
    permitWait: (result, durationMs) => permits.record(durationMs / 1000, { result }),
    watch(read) {
      meter
        .createObservableGauge(SCHEDULER_METRICS.pendingPods, { description: 'Pods that wait, by queue' })
        .addCallback((observed) => {
          for (const queue of QUEUE_NAMES) observed.observe(read().pending[queue], { queue });
        });
      meter
        .createObservableGauge(SCHEDULER_METRICS.unschedulablePods, {
          description: 'Pods that wait, by the plug-ins that refused them',
        })
        .addCallback((observed) => {
          for (const { count, plugin, profile } of read().refused)
            observed.observe(count, { plugin, profile });
        });
      meter
        .createObservableGauge(SCHEDULER_METRICS.cacheSize, { description: 'Nodes and pods in the cache' })
        .addCallback((observed) => {
          const { assumedPods, nodes, pods: known } = read();
          observed.observe(nodes, { type: 'nodes' });
          observed.observe(known, { type: 'pods' });
          observed.observe(assumedPods, { type: 'assumed_pods' });
        });
    },
  };
}

function createCounters(meter: Metrics['meter']) {
  return {
    attempts: meter.createCounter(SCHEDULER_METRICS.attempts, {
      description: 'Attempts to schedule pods, by their result',
    }),
    incoming: meter.createCounter(SCHEDULER_METRICS.incomingPods, {
      description: 'Pods that came into a queue, by what brought them there',
    }),
    preemptions: meter.createCounter(SCHEDULER_METRICS.preemptionAttempts, { description: 'Preemptions' }),
    claims: meter.createCounter(SCHEDULER_METRICS.claimCreates, {
      description: "Requests to create the ResourceClaims of pods' extended resources",
    }),
  };
}

function createHistograms(meter: Metrics['meter']) {
  const histogram = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { description, advice: { explicitBucketBoundaries } });
  return {
    durations: histogram(
      SCHEDULER_METRICS.attemptDuration,
      'Seconds of an attempt: decision and binding',
      ATTEMPT_BUCKETS,
    ),
    points: histogram(
      SCHEDULER_METRICS.pointDuration,
      'Seconds of all plug-ins of an extension point',
      POINT_BUCKETS,
    ),
    decisions: histogram(SCHEDULER_METRICS.algorithmDuration, 'Seconds of a decision', ATTEMPT_BUCKETS),
    podAttempts: histogram(
      SCHEDULER_METRICS.podAttempts,
      'Attempts that it took to schedule a pod',
      [1, 2, 4, 8, 16],
    ),
    pods: histogram(
      SCHEDULER_METRICS.podDuration,
      'Seconds from the arrival of a pod in the queue to its binding',
      POD_BUCKETS,
    ),
    victims: histogram(
      SCHEDULER_METRICS.preemptionVictims,
      'Victims of a preemption',
      [1, 2, 4, 8, 16, 32, 64],
    ),
    permits: histogram(SCHEDULER_METRICS.permitWait, 'Seconds that a binding was delayed', ATTEMPT_BUCKETS),
  };
}
