import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type { ReplicaRegistry } from '../admin/pages/index.js';
import { replicaRegistry } from '../admin/pages/index.js';
import { DecisionLog, RunningSyncs, SyncJournal } from '../insight/explain/index.js';
import { ObjectiveLog } from '../insight/objectives/index.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** Observations for display: decisions, running syncs, the other replicas. */
@Injectable()
export class Observation implements OnModuleDestroy {
  readonly decisions = new DecisionLog();
  /** How soon rollouts were answered and done. */
  readonly objectives: ObjectiveLog;
  readonly running: RunningSyncs;
  /** Notes the syncs of every controller. */
  readonly journal: SyncJournal;
  /** Connects when it runs. */
  readonly peers: ReplicaRegistry;

  constructor(
    @Inject(REPLICA_OPTIONS) options: CompiledReplicaOptions,
    @Inject(SystemClock) clock: SystemClock,
    @Inject(ReplicaTelemetry) { logger }: ReplicaTelemetry,
  ) {
    const { identity, 'key-prefix': keyPrefix, 'redis-url': redisUrl } = options;
    this.objectives = new ObjectiveLog(clock);
    this.running = new RunningSyncs(clock);
    this.journal = new SyncJournal({ replica: identity, log: this.decisions, running: this.running, clock });
    this.peers = replicaRegistry({ redisUrl, keyPrefix, identity, clock, logger });
  }

  onModuleDestroy(): void {
    this.peers.close();
  }
}
