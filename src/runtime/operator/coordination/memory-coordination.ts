import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemClock, SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import { MemoryActorStore, QueuedActivations, StoredActorRuntime } from '../../activation/index.js';
import { MemoryLease, MemoryResourceLock } from '../../leader-election/index.js';
import { MemorySlotTable } from '../../slots/index.js';
import { MemoryWorkQueue, MemoryWorkQueueConsumer } from '../../work-queue/index.js';
import { localActivations } from './local-activations.js';
import type { ClusterClaims, Coordination, CoordinationFactory, CoordinationParts } from './coordination.js';

/**
 * Queues, actors and the lease in this process's memory, for `createManager({ coordination })`: no Redis is needed.
 * Managers with the same one are replicas of one operator. It cannot see other processes, so the manager has to be the
 * only one (`onlyProcess`), or the lease has to be where all processes see it: `coordination: 'leases'` is for that.
 * @param clock also the managers'
 */
export function memoryCoordination(clock: Clock = new SystemClock()): CoordinationFactory {
  const store = new MemoryActorStore(clock);
  const lease = new MemoryLease(clock);
  const queues = new Map<string, MemoryWorkQueue>();
  const claims = new MemoryClusterClaims();
  const tables = new Map<number, MemorySlotTable>();
  const slotTableOf = (count: number): MemorySlotTable => {
    const table = tables.get(count) ?? new MemorySlotTable();
    tables.set(count, table);
    return table;
  };
  const make = (parts: CoordinationParts): Coordination => {
    const { drainTimeoutMs, logger, metrics, queueView = (queue) => queue, spreadAfterMs } = parts;
    const { random = new SystemRandom() } = parts;
    const actors = new StoredActorRuntime({ store, newOwner: () => uuidOf(random), clock, logger });
    return {
      name: 'memory',
      claims,
      slotTableOf,
      lockOf: (identity) => new MemoryResourceLock(lease, identity),
      activationsOf: (name, { tuning, waitsIn } = {}) => {
        if (waitsIn === 'local') return localActivations(name, actors, { ...parts, clock }, tuning);
        const queue =
          queues.get(name) ??
          new MemoryWorkQueue({
            name,
            clock,
            metrics,
            options: { ...tuning, drainTimeoutMs, spreadAfterMs },
          });
        queues.set(name, queue);
        const consumer = new MemoryWorkQueueConsumer(queue, logger);
        return new QueuedActivations({ queue: queueView(queue), consumer, actors, clock, random, logger });
      },
      waitUntilUsable: () => Promise.resolve(),
      ping: () => Promise.resolve(),
      // Other managers may continue to use it.
      close: () => Promise.resolve(),
    };
  };
  return Object.assign(make, { reach: 'process' as const });
}

/** State about a former cluster does not outlive the process, so a replacement has nothing to remove. */
export class MemoryClusterClaims implements ClusterClaims {
  private current: string | undefined;

  async owner(): Promise<string | undefined> {
    return this.current;
  }

  async claim(cluster: string): Promise<string> {
    this.current ??= cluster;
    return this.current;
  }

  async replace(former: string, cluster: string): Promise<string> {
    if (this.current === former) this.current = cluster;
    return this.claim(cluster);
  }
}
