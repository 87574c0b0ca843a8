import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock/index.js';
import { SystemClock } from '../../base/clock/index.js';
// Not through the folders' doors, which load BullMQ: who keeps everything in memory starts sooner without.
import { MemoryActorStore } from '../actor/memory-actor-runtime.js';
import { StoredActorRuntime } from '../actor/stored-actor-runtime.js';
import { MemoryLease, MemoryResourceLock } from '../leader-election/memory-resource-lock.js';
import { MemoryWorkQueueConsumer } from '../work-queue/memory-consumer.js';
import { MemoryWorkQueue } from '../work-queue/memory-work-queue.js';
import type { Coordination, CoordinationFactory } from './coordination.js';

/**
 * Queues, actors and the lease in this process's memory, for `createManager({ coordination })`: no Redis is needed. Managers
 * that are given the same one are replicas of one operator.
 * @param clock the managers' too
 */
export function memoryCoordination(clock: Clock = new SystemClock()): CoordinationFactory {
  const store = new MemoryActorStore(clock);
  const lease = new MemoryLease(clock);
  const queues = new Map<string, MemoryWorkQueue>();
  return ({ drainTimeoutMs, logger, metrics }): Coordination => ({
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
}
