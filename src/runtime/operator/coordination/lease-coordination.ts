import type { Clock } from '@rollkeeper/machinery/clock';
import { SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Activations } from '../../activation/index.js';
import { MemoryActorStore, StoredActorRuntime } from '../../activation/index.js';
import type { LeaderTerm } from '../../work-queue/index.js';
import type {
  ActivationsOptions,
  Coordination,
  CoordinationFactory,
  CoordinationParts,
} from './coordination.js';
import { IntentLedger } from './intent-ledger.js';
import { LedgerActorStore } from './ledger-actor-store.js';
import { localActivations } from './local-activations.js';

interface LeaseCoordinationOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** The namespace of the Lease. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * Coordination without a Redis: the holder of a Lease works alone, on queues and locks in its memory. Intents are kept in
 * ConfigMaps beside the Lease.
 */
export function leaseCoordination(options: LeaseCoordinationOptions): CoordinationFactory {
  const make = (parts: CoordinationParts): Coordination => new LeaseCoordination(options, parts);
  return Object.assign(make, { reach: 'process' as const });
}

class LeaseCoordination implements Coordination {
  readonly name = 'leases';
  readonly needsCurrentCaches = true;
  private readonly actors: StoredActorRuntime;
  private readonly store: LedgerActorStore;

  constructor(
    private readonly options: LeaseCoordinationOptions,
    private readonly parts: CoordinationParts,
  ) {
    const { client, clock, name, namespace } = options;
    const { logger, random = new SystemRandom() } = parts;
    const ledger = new IntentLedger({ client, clock, logger, name, namespace });
    this.store = new LedgerActorStore(new MemoryActorStore(clock), ledger);
    this.actors = new StoredActorRuntime({
      store: this.store,
      newOwner: () => uuidOf(random),
      clock,
      logger,
    });
  }

  activationsOf(controller: string, { tuning }: ActivationsOptions = {}): Activations {
    return localActivations(controller, this.actors, this.parts, tuning);
  }

  lockOf(): never {
    throw new IllegalStateError('the lease is in the API');
  }

  beginTerm(term: LeaderTerm, signal: AbortSignal): Promise<void> {
    return this.store.begin(term, signal);
  }

  handOver(): Promise<void> {
    return this.store.handOver();
  }

  async waitUntilUsable(): Promise<void> {}

  ping(): Promise<void> {
    return this.options.client.ping();
  }

  async close(): Promise<void> {}
}
