import type { ActorRuntime } from '../actor/index.js';
import type { QueuePair } from '../actor-queue/index.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { HolderWitness, ResourceLock } from '../leader-election/index.js';
import type { WorkQueueMetrics } from '../work-queue/index.js';

/** Of which cluster an installation's keys are, by that cluster's identity. */
export interface ClusterClaims {
  /** Undefined: no cluster's yet, as those of releases that kept no record of it. */
  owner(): Promise<string | undefined>;
  /** Makes the keys the cluster's where they are no other's. Resolves with whose they are then. */
  claim(cluster: string): Promise<string>;
  /**
   * Makes the keys of `former` the cluster's, without what was remembered of objects of the former one. Resolves with whose they are
   * then: another's where they were not the former's.
   */
  replace(former: string, cluster: string, signal: AbortSignal): Promise<string>;
}

/** What the replicas of one installation share: queues, the actors' locks and memory, the leader's lease. */
export interface Coordination {
  /** A lower-case word: `redis`. Names the health check. */
  readonly name: string;
  /** Opens nothing before its first use. */
  queueOf(controller: string): QueuePair;
  readonly actors: ActorRuntime;
  /** @param identity of this life of this replica, never used again */
  lockOf(identity: string): ResourceLock;
  /**
   * Shows that we are there, and whether others are, wherever the lease is.
   * @default none: a leader that dies keeps its lease until its end
   * @param identity as for `lockOf`
   */
  witnessOf?(identity: string): HolderWitness;
  /**
   * Whose the installation's keys are. Two clusters on the same keys would take each other's, and find "gone" what exists.
   * @default nothing is known of it, and nobody is refused
   */
  readonly claims?: ClusterClaims;
  /** Resolves once it can be used. @throws StartupError with the one line that a person is shown */
  waitUntilUsable(signal: AbortSignal): Promise<void>;
  /** Rejects while it does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface CoordinationParts {
  /** Keeps installations apart. */
  readonly keyPrefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: WorkQueueMetrics;
  /** How long running keys may go on after a stop, milliseconds. */
  readonly drainTimeoutMs: number;
}

/** Makes it when the manager knows its parts. */
export interface CoordinationFactory {
  (parts: CoordinationParts): Coordination;
  /**
   * How far it reaches: `network`, every process that is given the same, or `process`: it cannot see another process, whose managers
   * would lead and work on the same keys side by side. A manager is refused such a one unless something else keeps them apart.
   * @default 'network'
   */
  readonly reach?: CoordinationReach;
}

export type CoordinationReach = 'network' | 'process';
