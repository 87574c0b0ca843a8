import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { RolloutHealth, RolloutPhase, StandingCode } from '@rollkeeper/controllers/deployment';
import type { LoggedDecision } from './decision-log.js';

/**
 * The health of a rollout; `scaled-to-zero` is complete, with no replicas requested. Unlike the health that the status alone shows,
 * it is found by the pods, the queues and the replicas too: `blocked` if one of the findings is.
 */
export type ExplanationState = RolloutHealth | 'scaled-to-zero';

/** The cause of a wait; stable words for programs. */
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
  | 'api-silent'
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
  | 'baking'
  | 'draining'
  | 'admission-drift'
  | 'scaled-to-zero'
  | 'complete';

/** `blocked`: nothing happens by itself. `waits`: time or the cluster will resolve it. `note`: worth knowing. */
export type Severity = 'blocked' | 'waits' | 'note';

/** A pod that the rollout waits for. */
export interface NamedPod {
  readonly name: string;
  readonly reason: string;
  readonly message?: string;
  /** Its node, if that is what matters. */
  readonly node?: string;
}

/** One thing that the rollout waits for, or that blocks it. */
export interface Finding {
  readonly cause: CauseCode;
  readonly severity: Severity;
  /** One sentence. */
  readonly summary: string;
  readonly pods?: readonly NamedPod[];
  /** The ways to end the wait, one sentence each. */
  readonly unblockedBy: readonly string[];
}

/** The explanation of a ReplicaSet's size. */
export interface ReplicaSetArithmetic {
  readonly name: string;
  readonly role: 'new' | 'old';
  readonly revision?: Int64;
  readonly images: readonly string[];
  /** The current size. */
  readonly size: number;
  /** The size after the next sync. */
  readonly nextSize: number;
  readonly pods: number;
  readonly ready: number;
  readonly available: number;
  /** The arithmetic, in words and numbers. */
  readonly because: readonly string[];
}

/** The limits of the rollout in numbers of pods. */
export interface Limits {
  readonly replicas: number;
  readonly strategy: string;
  /** Minimum of available pods. */
  readonly floor: number;
  /** Maximum of pods in total. */
  readonly ceiling: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly minReadySeconds: number;
}

export interface DeadlineView {
  readonly seconds: number;
  /** Until it passes; negative after that. */
  readonly remainingSeconds?: number;
  readonly exceeded: boolean;
}

/** The explanation of a rollout's state, for people and programs. */
export interface Explanation {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly state: ExplanationState;
  /** The phase of the rollout, as `rollkeeper rollout status` names it. */
  readonly phase: RolloutPhase;
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
