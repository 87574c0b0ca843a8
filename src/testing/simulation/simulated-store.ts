import { MemoryLease } from '@rollkeeper/runtime/leader-election';
import { MemoryActorStore } from '@rollkeeper/runtime/activation';
import type { ActorId } from '@rollkeeper/runtime/activation';
import type { WorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import type { CreateManagerOptions } from '@rollkeeper/runtime';
import { MemoryClusterClaims } from '@rollkeeper/runtime/operator/memory-coordination';
import { MemoryPresence } from '../fake-holder-witness.js';
import type { Network } from './network.js';
import type { SimulatedProcess } from './process.js';
import { ServedQueue } from './served-queue.js';
import type { CoordinationViews } from './simulated-coordination.js';
import { simulatedCoordination } from './simulated-coordination.js';
import type { WorldStore } from './world-store.js';

/** The contents of a coordination store, in memory of its own process and by its own clock. */
interface Contents {
  readonly queues: Map<string, ServedQueue>;
  readonly actors: MemoryActorStore;
  readonly lease: MemoryLease;
  readonly claims: MemoryClusterClaims;
}

/** The store that replicas coordinate through: queues, actors and the lease. It replaces Redis. */
export class SimulatedStore implements WorldStore {
  readonly presence = new MemoryPresence();
  full = 0;
  private contents: Contents;

  constructor(
    readonly process: SimulatedProcess,
    private readonly network: Network,
  ) {
    this.contents = this.empty();
  }

  coordinationOf(process: SimulatedProcess, views?: CoordinationViews): CreateManagerOptions['coordination'] {
    return simulatedCoordination(process, this, this.network, views);
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

  loseQueues(): void {
    const { actors, claims, queues } = this.contents;
    for (const queue of queues.values()) queue.drop();
    this.contents = { ...this.empty(), actors, claims };
  }

  loseQueue(which: number): string | undefined {
    const names = [...this.contents.queues.keys()];
    const name = names[Math.floor(which * names.length)];
    if (name === undefined) return undefined;
    this.contents.queues.get(name)?.drop();
    this.contents.queues.delete(name);
    return name;
  }

  remember(): () => void {
    const putBack = this.lease.saved();
    const { lease } = this;
    return () => {
      this.loseQueues();
      putBack();
      this.contents = { ...this.contents, lease };
    };
  }

  unanswered(): (readonly [ActorId, number])[] {
    return [...this.actors.unanswered()].map(([id, writes]) => [id, writes.length]);
  }

  hasIntents(id: ActorId): boolean {
    return this.actors.intentsOf(id) !== undefined;
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
