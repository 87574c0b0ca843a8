import { Inject, Injectable } from '@nestjs/common';
import { ControllerManager } from '@rollkeeper/runtime';
import { AdminPorts } from '../admin/server/index.js';
import type { OnServing } from '../admin/pages/index.js';
import { announceReplica } from '../admin/pages/index.js';
import { Observation } from './observation.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { ReplicaTelemetry } from './replica-telemetry.service.js';

/** Runs the manager behind admin pages that are already served. */
@Injectable()
export class ReplicaRunner {
  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ReplicaTelemetry) private readonly telemetry: ReplicaTelemetry,
    @Inject(Observation) private readonly observation: Observation,
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
  ) {}

  /**
   * Runs until aborted; then closes the manager, however it ended.
   * @param url where the admin pages are served
   * @throws StartupError
   */
  async run(url: string, onServing: OnServing, signal: AbortSignal): Promise<void> {
    const { manager, ports } = this;
    this.logStart(url);
    try {
      await manager.waitUntilUsable(signal);
      const { peers } = this.observation;
      announceReplica({ url, host: this.options['admin-host'], ports, peers, onServing });
      await manager.run(signal);
    } finally {
      await manager.close();
    }
  }

  private logStart(adminUrl: string): void {
    const { definitions, elsewhere } = this.options;
    const { logger } = this.telemetry;
    logger.info('serving', {
      adminUrl,
      certificates: this.ports.certificate?.fingerprints,
      controllers: definitions.map(({ name }) => name),
    });
    if (elsewhere.length > 0)
      logger.info('named in --controllers, and nothing to do here', { controllers: elsewhere });
  }
}
