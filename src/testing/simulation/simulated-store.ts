import { MemoryLease } from '@rollkeeper/runtime/leader-election';
import { MemoryActorStore } from '@rollkeeper/runtime/activation';
import type { WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { MemoryClusterClaims } from '@rollkeeper/runtime/operator/memory-coordination';
import { MemoryPresence } from '../fake-holder-witness.js';
import type { SimulatedProcess } from './process.js';
import { ServedQueue } from './served-queue.js';

/** The contents of a coordination store, in memory of its own process and by its own clock. */
interface Contents {
  readonly queues: Map<string, ServedQueue>;
  readonly actors: MemoryActorStore;
  readonly lease: MemoryLease;
  readonly claims: MemoryClusterClaims;
}

/** The store that replicas coordinate through: queues, actors and the lease. It replaces Redis. */
export class SimulatedStore {
  readonly presence = new MemoryPresence();
  /** The chance from 0 to 1 that a write is refused because there is no memory for it. @default 0 */
  full = 0;
  private contents: Contents;

  constructor(readonly process: SimulatedProcess) {
    this.contents = this.empty();
  }

  get actors(): MemoryActorStore {
    return this.contents.actors;
  }

  get lease(): MemoryLease {
    return this.contents.lease;
  }

  get claims(): MemoryClusterClaims {
    return this.contents.claims;
  }

  get queues(): readonly ServedQueue[] {
    return [...this.contents.queues.values()];
  }

  /** The queue of a controller, made when it is first asked for. */
  queue(name: string, options: WorkQueueOptions): ServedQueue {
    const { queues } = this.contents;
    const known = queues.get(name) ?? new ServedQueue(name, this.process.clock, options);
    queues.set(name, known);
    return known;
  }

  /**
   * Loses the queues and the lease, as a restart without persistence does. The locks and the state of actors stay:
   * without them two replicas may process a key for a moment, which docs/REDIS.md says.
   */
  loseQueues(): void {
    const { actors, claims, queues } = this.contents;
    for (const queue of queues.values()) queue.drop();
    this.contents = { ...this.empty(), actors, claims };
  }

  /**
   * Loses what one queue has, as a shard does that fails over without its data: the lease and all else stay.
   * @param which from 0 up to, but not including, 1
   * @returns its name; undefined if there is no queue yet
   */
  loseQueue(which: number): string | undefined {
    const names = [...this.contents.queues.keys()];
    const name = names[Math.floor(which * names.length)];
    if (name === undefined) return undefined;
    this.contents.queues.get(name)?.drop();
    this.contents.queues.delete(name);
    return name;
  }

  /** Keeps the lease as it is now. @returns puts it back, and loses the queues, as a fail-over to an older replica does */
  remember(): () => void {
    const putBack = this.lease.saved();
    const { lease } = this;
    return () => {
      this.loseQueues();
      putBack();
      this.contents = { ...this.contents, lease };
    };
  }

  private empty(): Contents {
    const { clock } = this.process;
    return {
      queues: new Map(),
      actors: new MemoryActorStore(clock),
      lease: new MemoryLease(clock),
      claims: new MemoryClusterClaims(),
    };
  }
}
