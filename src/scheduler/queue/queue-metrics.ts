/** The queues in which a pod waits, by kube-scheduler's names. */
export type QueueName = 'active' | 'backoff' | 'unschedulable' | 'gated';

export const QUEUE_NAMES: readonly QueueName[] = ['active', 'backoff', 'unschedulable', 'gated'];

/** How many waiting pods of a profile a plug-in has refused. */
export interface RefusedPods {
  readonly plugin: string;
  readonly profile: string;
  readonly count: number;
}

export interface SchedulingQueueMetrics {
  /** A pod came into a queue. @param event what brought it there, for example `PodAdd`, `ScheduleAttemptFailure` */
  incoming(queue: Exclude<QueueName, 'gated'>, event: string): void;
}

export const noSchedulingQueueMetrics: SchedulingQueueMetrics = { incoming: () => undefined };
