import type { DynamicModule } from '@nestjs/common';
import { Module } from '@nestjs/common';
import type { StatusSource } from '../admin/index.js';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { AccessJudge } from '../delegated-access/index.js';
import { DelegatedAccess } from '../delegated-access/index.js';
import type { DecisionLog, RunningSyncs } from '../explain/index.js';
import type { Logger } from '@rollkeeper/machinery/logging';
import { ControllerManager } from '@rollkeeper/runtime';
import type { RecentTraces } from '@rollkeeper/opentelemetry';
import type { ServedCertificate } from '@rollkeeper/tls';
import type { RedisPeerRegistry } from '../admin-pages/index.js';
import { createAdminPorts } from '../admin-pages/index.js';
import { KubernetesApiModule } from './kubernetes-api.module.js';
import { ManagerModule } from './manager.module.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { withoutSecrets } from './shown-options.js';
import * as tokens from './tokens.js';

/** What the admin API shows and does, out of the replica's parts. */
@Module({
  imports: [KubernetesApiModule],
  providers: [
    {
      provide: tokens.DELEGATED_ACCESS,
      inject: [tokens.OPTIONS, tokens.API_CLIENT, tokens.CLOCK, tokens.LOGGER],
      useFactory: (
        options: CompiledReplicaOptions,
        client: HttpApiClient,
        clock: Clock,
        logger: Logger,
      ): AccessJudge | null =>
        options['admin-auth'] === 'delegated' ? new DelegatedAccess({ client, clock, logger }) : null,
    },
    {
      provide: tokens.PORTS,
      inject: [
        tokens.OPTIONS,
        tokens.CLOCK,
        tokens.LOGGER,
        tokens.ADMIN_TOKEN,
        tokens.DELEGATED_ACCESS,
        tokens.ADMIN_CERTIFICATE,
        tokens.STATUS,
        ControllerManager,
        tokens.DECISIONS,
        tokens.RUNNING,
        tokens.PEERS,
        tokens.TRACES,
      ],
      useFactory: (
        options: CompiledReplicaOptions,
        clock: Clock,
        logger: Logger,
        token: string | null,
        delegated: AccessJudge | null,
        certificate: ServedCertificate | null,
        status: StatusSource,
        manager: ControllerManager,
        decisions: DecisionLog,
        running: RunningSyncs,
        peers: RedisPeerRegistry,
        traces: RecentTraces,
      ) =>
        createAdminPorts({
          openMetrics: options['admin-open-metrics'],
          localReads: options['admin-local-reads'],
          config: () => withoutSecrets(options),
          clock,
          logger,
          token,
          delegated,
          certificate,
          status,
          manager,
          decisions,
          running,
          peers,
          traces,
        }),
    },
  ],
  exports: [tokens.PORTS],
})
export class PortsModule {
  static forRoot(options: CompiledReplicaOptions): DynamicModule {
    const manager = ManagerModule.forRoot(options);
    return { module: PortsModule, imports: [manager], exports: [manager] };
  }
}
