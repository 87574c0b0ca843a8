import type { RedisOptions } from 'ioredis';
import type { CreateManagerOptions } from '@rollkeeper/runtime';
import type { ActorId, ControllerQueue } from '@rollkeeper/runtime/activation';
import type { WorkQueueView } from '@rollkeeper/runtime/work-queue/queue-inspection';
import type { Dice, StoreFaultKind } from './fault-kinds.js';
import type { CoordinationViews } from './simulated-coordination.js';
import type { SimulatedProcess } from './process.js';

/** A queue in a store, for those who look at it from outside of the simulation. */
export interface StoredQueue {
  readonly queue: Pick<ControllerQueue, 'name' | 'counts'> & {
    /** At most `limit` keys that come back later. */
    inspect(limit: number): Promise<Pick<WorkQueueView, 'delayed'>>;
  };
  /** Whether a leader's term has begun in it. */
  readonly hasTerm: boolean;
}

/** A Redis in this process. */
export interface ReachableRedis {
  readonly url: string;
  /** The name in the URL. */
  readonly host: string;
  readonly connector: NonNullable<RedisOptions['Connector']>;
}

/** The store that the replicas of a world coordinate through, with the faults that it can have. */
export interface WorldStore {
  readonly process: SimulatedProcess;
  /** The chance from 0 to 1 that a write is refused because there is no memory for it. @default 0 */
  full: number;
  readonly queues: readonly StoredQueue[];
  /** The coordination of a process, over the world's network. */
  coordinationOf(process: SimulatedProcess, views?: CoordinationViews): CreateManagerOptions['coordination'];
  /**
   * Loses the queues and the lease, as a restart without persistence does. The locks and the state of actors stay:
   * without them two replicas may process a key for a moment, which docs/REDIS.md says.
   */
  loseQueues(): void;
  /**
   * Loses what one queue has, as a shard does that fails over without its data: the lease and all else stay.
   * @param which from 0 up to, but not including, 1
   * @returns its name; undefined if there is no queue yet
   */
  loseQueue(which: number): string | undefined;
  /** Keeps the lease as it is now. @returns puts it back, and loses what the queues got since, as a fail-over to an older replica does */
  remember(): () => void;
  /**
   * Makes a fault that only some stores have. @default it has none of them
   * @returns when it takes effect, simulated milliseconds from now
   */
  disturb?(fault: StoreFaultKind, dice: Dice): number;
  /** How long a process that has ended waits for its connections to close, milliseconds. @default 0 */
  readonly lingersMs?: number;
  /** The simulated Redis that it is, and how ioredis reaches it. @default it is none */
  readonly redis?: ReachableRedis;
  /** Ends its faults. @default it has none that last */
  heal?(): void;
  /** The number of writes without an answer that it has of each actor. */
  unanswered(): readonly (readonly [ActorId, count: number])[];
  hasIntents(id: ActorId): boolean;
  /** Gives back what it took of the process that simulates. @default nothing */
  close?(): void;
}
