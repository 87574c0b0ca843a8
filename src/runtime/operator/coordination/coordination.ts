import type { EventLedger } from '@rollkeeper/client/events';
import type { Activations, ActorRuntime, ControllerQueue } from '../../activation/index.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { HolderWitness, ResourceLock } from '../../leader-election/index.js';
import type { SlotTable } from '../../slots/index.js';
import type { LeaderTerm, QueueTuning, WorkQueueMetrics } from '../../work-queue/index.js';

/** Records which cluster owns an installation's keys, by the cluster's identity. */
export interface ClusterClaims {
  /** Undefined: no owner yet, as with releases that kept no record. */
  owner(): Promise<string | undefined>;
  /** Claims the keys for the cluster if they have no owner. Resolves with the owner after that. */
  claim(cluster: string): Promise<string>;
  /**
   * Transfers the keys of `former` to the cluster, without the state about objects of the former one. Resolves with the
   * owner after that: another one if they were not the former's.
   */
  replace(former: string, cluster: string, signal: AbortSignal): Promise<string>;
}

/** The options of {@link Coordination.activationsOf}. */
export interface ActivationsOptions {
  /** How failures come back; the same on all replicas. @default the defaults of a queue */
  readonly tuning?: QueueTuning;
  /** `local`: the keys wait in this process; see `ControllerDefinition.queue`. @default 'shared' */
  readonly waitsIn?: 'shared' | 'local';
}

/**
 * The state that the replicas of one installation share: the activations of their controllers, and the leader's lease.
 */
export interface Coordination {
  /** A lower-case word: `redis`. Names the health check. */
  readonly name: string;
  /** Opens nothing before its first use. */
  activationsOf(controller: string, options?: ActivationsOptions): Activations;
  /**
   * The table of so many slots. Tables of different numbers have nothing to do with each other.
   * @default keys cannot be spread by slots
   */
  slotTableOf?(count: number): SlotTable | undefined;
  /** @param identity of this life of this replica, never reused */
  lockOf(identity: string): ResourceLock;
  /**
   * Makes us visible, and shows whether others are alive, independent of where the lease is.
   * @default none: a dead leader keeps its lease until it expires
   * @param identity as for `lockOf`
   */
  witnessOf?(identity: string): HolderWitness;
  /**
   * Owner of the installation's keys. Two clusters sharing keys would mix them up, and treat existing objects as
   * deleted.
   * @default not recorded, so no replica is refused
   */
  readonly claims?: ClusterClaims;
  /**
   * Lets the replicas count equal Events together.
   * @default each for itself, which is enough where one replica processes all keys
   */
  readonly eventLedger?: EventLedger;
  /**
   * Whether a leader cannot know what the former one wrote in its last moments, so that its controllers only start with
   * caches that have not lost their connection to the server.
   * @default false: the keys carry the versions that their next sync must have seen
   */
  readonly needsCurrentCaches?: boolean;
  /**
   * Called when this replica begins to lead, before any of its keys run; it may be called again after a failure.
   * @default nothing to do
   * @throws SupersededError if a newer term has begun
   */
  beginTerm?(term: LeaderTerm, signal: AbortSignal): Promise<void>;
  /** Called at a clean end of that term, after its last key and before the lease is released. Never rejects. */
  handOver?(): Promise<void>;
  /** Resolves once it can be used. @throws StartupError with the one line to show */
  waitUntilUsable(signal: AbortSignal): Promise<void>;
  /** Rejects while it does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The parts from which a manager makes its coordination. */
export interface CoordinationParts {
  /** Separates installations. */
  readonly keyPrefix: string;
  readonly clock: Clock;
  /** For the ids of activations and failures. @default SystemRandom */
  readonly random?: RandomSource;
  readonly logger: Logger;
  readonly metrics: WorkQueueMetrics;
  /** How long keys in progress may continue after a stop, milliseconds. */
  readonly drainTimeoutMs: number;
  /** See `WorkQueueOptions`. @default 0 */
  readonly spreadAfterMs?: number;
  /** Wraps the queue of each controller, to see or change when keys come back. @default left as it is */
  readonly queueView?: (queue: ControllerQueue) => ControllerQueue;
  /** Wraps the actors of a coordination on Redis, to watch activations. @default left as they are */
  readonly actorsView?: (actors: ActorRuntime) => ActorRuntime;
}

/** Creates it once the manager knows its parts. */
export interface CoordinationFactory {
  (parts: CoordinationParts): Coordination;
  /**
   * Its reach: `network`, for every process with the same settings, or `process`: it cannot see another process, so the
   * managers of two processes would both lead and process the same keys. A manager refuses the latter unless something
   * else separates them.
   * @default 'network'
   */
  readonly reach?: CoordinationReach;
}

/** The processes that a coordination connects. */
export type CoordinationReach = 'network' | 'process';
