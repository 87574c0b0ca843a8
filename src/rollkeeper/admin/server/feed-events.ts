import type { ParkedKey, WorkQueueCounts } from '@rollkeeper/runtime/work-queue';
import type { LoggedDecision } from '../../insight/explain/index.js';
import type { ClusterSnapshot } from './cluster-view.js';
import type { DeploymentSummary } from './console-summary.js';
import type { MissingReplica } from './slot-replicas.js';

/** The rows of the list that changed. */
export interface RowChanges {
  readonly changed: readonly DeploymentSummary[];
  /** The keys of those that were deleted. */
  readonly gone: readonly string[];
  /** The keys of those that the replica owns no longer; only between replicas. @default none */
  readonly left?: readonly string[];
}

/** A queue with its parked keys. */
export interface QueueSummary {
  readonly controller: string;
  readonly counts: WorkQueueCounts;
  readonly parked: readonly ParkedKey[];
}

/** The events of the console. */
export type FeedEvent =
  | {
      readonly type: 'hello';
      readonly identity: string;
      readonly nowMs: number;
      /** Whether there are rollouts to show: other operators' controllers may watch none. */
      readonly watchesDeployments: boolean;
    }
  | ({ readonly type: 'deployments' } & RowChanges)
  | { readonly type: 'listed' }
  /** With slots: the replicas whose rows are missing, and how many slots no replica works on. Sent when it changes. */
  | {
      readonly type: 'missing';
      readonly replicas: readonly MissingReplica[];
      readonly unowned: number;
    }
  | {
      readonly type: 'cluster';
      readonly nowMs: number;
      readonly cluster: ClusterSnapshot;
      readonly queues: readonly QueueSummary[];
    }
  /** In place of `cluster` between replicas: the queues that are in the memory of the one that sends it. */
  | { readonly type: 'queues'; readonly queues: readonly QueueSummary[] }
  | { readonly type: 'decisions'; readonly decisions: readonly LoggedDecision[] }
  /** Lines of a pod's log; none says that the pod is silent. */
  | { readonly type: 'log'; readonly lines: readonly string[] }
  /** The last event of a log: the container has ended, or why no more can be read. */
  | { readonly type: 'log-end'; readonly problem?: string }
  /** The last event of a stream: the same client opened too many others. */
  | { readonly type: 'gave-way' };

/** A connected viewer. */
export interface Viewer {
  send(event: FeedEvent): void;
  /** Resolves once most of the sent data has been read, or the viewer has disconnected. */
  drained(): Promise<void>;
}
