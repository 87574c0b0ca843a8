import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { ReconcilerWrapper } from '@rollkeeper/runtime';
import { RedisPeerRegistry } from '../admin-pages/index.js';
import { DecisionLog, ObservedReconciler, RunningSyncs } from '../explain/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** Observations for display: decisions, running syncs, the other replicas. */
@Injectable()
export class Observation implements OnModuleDestroy {
  readonly decisions = new DecisionLog();
  readonly running: RunningSyncs;
  /** Connects when it runs. */
  readonly peers: RedisPeerRegistry;

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(ReplicaTelemetry) { logger }: ReplicaTelemetry,
  ) {
    const { identity, 'key-prefix': keyPrefix, 'redis-url': redisUrl } = options;
    this.running = new RunningSyncs(clock);
    this.peers = new RedisPeerRegistry({ redisUrl, keyPrefix, identity, clock, logger });
  }

  /** Observes the syncs of every controller. */
  readonly around: ReconcilerWrapper = (reconciler, controller, objectOf) =>
    new ObservedReconciler(reconciler, {
      ...{ controller, clock: this.clock, replica: this.options.identity },
      ...{ log: this.decisions, running: this.running },
      uidOf: (key) => objectOf(key)?.metadata.uid,
    });

  onModuleDestroy(): void {
    this.peers.close();
  }
}
