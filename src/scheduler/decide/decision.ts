import type { NodeInfo, PodInfo } from '../framework/node-info.js';
import type { FreedClaim } from '../framework/plugin.js';
import type { Status } from '../framework/status.js';

/** The result of one attempt to schedule a pod. */
export type Decision = Chosen | Refused | Failed;

interface Attempt {
  /** Why nodes were refused, by their names: of those that were looked at. */
  readonly refusals: ReadonlyMap<string, Status>;
  /** The place at which the next attempt should begin its search among the snapshot's nodes. */
  readonly nextStartIndex: number;
}

export interface Chosen extends Attempt {
  readonly kind: 'chosen';
  readonly node: NodeInfo;
  readonly feasible: readonly NodeInfo[];
  /** None where a single node was feasible, or the pod's nominated node was: then nothing is scored. */
  readonly scores?: ScoreTable;
}

/** Scores of all feasible nodes. Every list is in the order of {@link Chosen.feasible}. */
export interface ScoreTable {
  /** Weighted, by plug-in. A plug-in that skipped the pod is not there. */
  readonly byPlugin: readonly { readonly plugin: string; readonly scores: readonly number[] }[];
  readonly totals: readonly number[];
}

export interface Refused extends Attempt {
  readonly kind: 'refused';
  /** For the PodScheduled condition and the event. */
  readonly message: string;
  /** Set where PreFilter refused the pod as a whole. */
  readonly preFilterRefusal?: Status;
  /** The pod's nomination is to become this: a node, or none. Where it is left out the nomination stays. */
  readonly nomination?: { readonly node: string | undefined };
  /** Pods to evict from the nominated node. */
  readonly victims: readonly PodInfo[];
  /** A ResourceClaim whose devices must be released, so that they can be allocated for this pod. */
  readonly deallocate?: FreedClaim;
  /** Names of the plug-ins that refused: their events may help. */
  readonly unschedulablePlugins: ReadonlySet<string>;
  /** Names of those that wait for something under way. */
  readonly pendingPlugins: ReadonlySet<string>;
}

/** A plug-in failed: reason `SchedulerError`. */
export interface Failed {
  readonly kind: 'failed';
  readonly message: string;
  readonly plugin: string;
}
