import type { Clock } from '../base/clock/index.js';
import type { Logger } from '../base/logging/index.js';
// Not through the doors, which load BullMQ: a cluster in memory is there sooner without.
import { MemoryActorRuntime } from '../kit/actor/memory-actor-runtime.js';
import type { Coordination } from '../kit/operator/coordination.js';
import { localQueue } from '../kit/operator/local-queue.js';

/** What the controllers of one run keep beside the API: their queues, and what they remember of a key. One leads for ever. */
export type ControllersCoordination = Pick<Coordination, 'actors' | 'queueOf' | 'close'>;

export interface CoordinationDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long keys that are worked on may go on after a stop, milliseconds. */
export const DRAIN_TIMEOUT_MS = 5000;

export function memoryCoordination({ clock, logger }: CoordinationDependencies): ControllersCoordination {
  return {
    actors: new MemoryActorRuntime({ clock, logger }),
    queueOf: (name) => localQueue(name, { clock, logger, drainTimeoutMs: DRAIN_TIMEOUT_MS }),
    close: () => Promise.resolve(),
  };
}

export interface RedisPlace {
  readonly redisUrl: string;
  /** In front of all keys. */
  readonly keyPrefix: string;
}
