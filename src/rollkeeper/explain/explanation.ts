import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { StandingCode } from '@rollkeeper/controllers/deployment';
import type { LoggedDecision } from './decision-log.js';

/**
 * Where a rollout is.
 *
 * - `complete`: everything that was asked for runs and is available
 * - `scaled-to-zero`: complete, and nothing was asked for
 * - `progressing`: it moves, or will by itself as time passes
 * - `blocked`: it will not move until something outside changes, see `unblockedBy`
 * - `degraded`: the rollout is over, and fewer pods than asked for are available, because pods that were ready no longer are
 * - `paused`, `deleting`: as somebody asked
 */
export type ExplanationState =
  'complete' | 'scaled-to-zero' | 'progressing' | 'blocked' | 'degraded' | 'paused' | 'deleting';

/** Why something waits; stable words for programs. */
export type CauseCode =
  | 'deleting'
  | 'empty-selector'
  | 'invalid-spec'
  | 'namespace-terminating'
  | 'parked'
  | 'retrying'
  | 'sync-timeout'
  | 'controller-not-running'
  | 'no-leader'
  | 'store-silent'
  | 'not-observed-yet'
  | 'replicaset-create-error'
  | 'name-too-long'
  | 'hash-collision'
  | 'rollback-revision-not-found'
  | 'selector-conflict'
  | 'paused'
  | 'pod-create-error'
  | 'quota'
  | 'image-pull'
  | 'crash-loop'
  | 'container-config'
  | 'unschedulable'
  | 'rejected-by-node'
  | 'rejection-backoff'
  | 'not-ready'
  | 'node-not-ready'
  | 'no-longer-ready'
  | 'starting'
  | 'min-ready-seconds'
  | 'terminating'
  | 'recreate-waits'
  | 'max-surge'
  | 'max-unavailable'
  | 'deadline-exceeded'
  | 'replicaset-behind'
  | 'next-sync'
  | StandingCode
  | 'scaled-to-zero'
  | 'complete';

/** `blocked`: nothing happens by itself. `waits`: time or the cluster will settle it. `note`: worth knowing. */
export type Severity = 'blocked' | 'waits' | 'note';

/** A pod that something waits for. */
export interface NamedPod {
  readonly name: string;
  readonly reason: string;
  readonly message?: string;
  /** The node that it is on, where that is what matters. */
  readonly node?: string;
}

/** One thing that the rollout waits for, or that stands in its way. */
export interface Finding {
  readonly cause: CauseCode;
  readonly severity: Severity;
  /** One sentence. */
  readonly summary: string;
  readonly pods?: readonly NamedPod[];
  /** What would end the wait, one sentence each. */
  readonly unblockedBy: readonly string[];
}

/** Why a ReplicaSet has its size. */
export interface ReplicaSetArithmetic {
  readonly name: string;
  readonly role: 'new' | 'old';
  readonly revision?: Int64;
  readonly images: readonly string[];
  /** The size asked for now. */
  readonly size: number;
  /** The size that the next sync would ask for. */
  readonly nextSize: number;
  readonly pods: number;
  readonly ready: number;
  readonly available: number;
  /** The sums, in words and numbers. */
  readonly because: readonly string[];
}

/** The limits of the rollout in numbers of pods. */
export interface Limits {
  readonly replicas: number;
  readonly strategy: string;
  /** At least so many stay available. */
  readonly floor: number;
  /** At most so many are asked for in all. */
  readonly ceiling: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly minReadySeconds: number;
}

export interface DeadlineView {
  readonly seconds: number;
  /** Until it passes; negative once it has. */
  readonly remainingSeconds?: number;
  readonly exceeded: boolean;
}

/** The answer to "why is this rollout where it is", for people and programs alike. */
export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly state: ExplanationState;
  /** The first of `waitsFor`, or why there is none. */
  readonly cause: CauseCode;
  /** The state in one sentence. */
  readonly sentence: string;
  readonly waitsFor: readonly Finding[];
  readonly limits?: Limits;
  readonly counts: {
    readonly total: number;
    readonly updated: number;
    readonly ready: number;
    readonly available: number;
  };
  readonly deadline?: DeadlineView;
  readonly replicaSets: readonly ReplicaSetArithmetic[];
  /** Newest first. */
  readonly lastDecisions: readonly LoggedDecision[];
  readonly unblockedBy: readonly string[];
}
