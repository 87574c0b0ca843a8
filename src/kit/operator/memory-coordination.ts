import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock/index.js';
import { SystemClock } from '../../base/clock/index.js';
import { MemoryActorStore, StoredActorRuntime } from '../actor/index.js';
import { MemoryLease, MemoryResourceLock } from '../leader-election/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../work-queue/index.js';
import type { Coordination, CoordinationFactory, CoordinationParts } from './coordination.js';

/**
 * Queues, actors and the lease in this process's memory, for `createManager({ coordination })`: no Redis is needed. Managers
 * that are given the same one are replicas of one operator. It knows nothing of other processes, so the manager has to be the
 * only one (`onlyProcess`), or the lease has to be where all processes see it (`leaderElection: { lock: 'leases' }`).
 * @param clock the managers' too
 */
export function memoryCoordination(clock: Clock = new SystemClock()): CoordinationFactory {
  const store = new MemoryActorStore(clock);
  const lease = new MemoryLease(clock);
  const queues = new Map<string, MemoryWorkQueue>();
  const make = ({ drainTimeoutMs, logger, metrics }: CoordinationParts): Coordination => ({
    name: 'memory',
    actors: new StoredActorRuntime({ store, newOwner: randomUUID, clock, logger }),
    lockOf: (identity) => new MemoryResourceLock(lease, identity),
    queueOf: (name) => {
      const queue =
        queues.get(name) ?? new MemoryWorkQueue({ name, clock, metrics, options: { drainTimeoutMs } });
      queues.set(name, queue);
      return { queue, consumer: new MemoryWorkQueueConsumer(queue, logger) };
    },
    waitUntilUsable: () => Promise.resolve(),
    ping: () => Promise.resolve(),
    // The others may go on.
    close: () => Promise.resolve(),
  });
  return Object.assign(make, { reach: 'process' as const });
}
