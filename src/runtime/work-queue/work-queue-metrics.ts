/**
 * Metrics of a queue, in the terms of client-go's util/workqueue/metrics.go. Durations in milliseconds; exporters
 * convert to seconds.
 */
export interface WorkQueueMetrics {
  /** `workqueue_adds_total`: adds, including those that met a waiting key. */
  added(queue: string): void;
  /** `workqueue_retries_total`: rate-limited adds. */
  retried(queue: string): void;
  /** A key was parked. */
  parked(queue: string): void;
  /** Keys that were waiting without a job got one again. */
  repaired(queue: string, keys: number): void;
  /** `workqueue_queue_duration_seconds`: from ready to taken. */
  queueDuration(queue: string, durationMs: number): void;
  /** `workqueue_work_duration_seconds`: one run of the handler. */
  workDuration(queue: string, durationMs: number): void;
  /** `workqueue_depth`, `workqueue_unfinished_work_seconds`, `workqueue_longest_running_processor_seconds`. */
  gauges(queue: string, gauges: WorkQueueGauges): void;
}

/** Reported every `maintenanceIntervalMs` by a consuming replica. */
export interface WorkQueueGauges {
  /** The number of keys of the whole queue, over all replicas. */
  readonly depth: number;
  /** The number of parked keys of the whole queue, over all replicas. */
  readonly parked: number;
  /** Sum of the ages of this replica's running handlers. */
  readonly unfinishedWorkMs: number;
  /** Age of this replica's oldest running handler. */
  readonly longestRunningMs: number;
}

export const noWorkQueueMetrics: WorkQueueMetrics = {
  added: () => undefined,
  retried: () => undefined,
  parked: () => undefined,
  repaired: () => undefined,
  queueDuration: () => undefined,
  workDuration: () => undefined,
  gauges: () => undefined,
};
