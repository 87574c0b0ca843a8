import { Module } from '@nestjs/common';
import type { ApiClientMetrics, ClusterConnection, HttpApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig } from '@rollkeeper/client/api-client';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { createApiClientMetrics } from '@rollkeeper/runtime/telemetry';
import { VERSION } from '@rollkeeper/machinery/version';
import { ControllerClients } from './controller-clients.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import {
  API_CLIENT,
  API_METRICS,
  CLOCK,
  CONNECTION,
  CONTROLLER_CLIENTS,
  LOGGER,
  METRICS,
  OPTIONS,
  RANDOM,
} from './tokens.js';

/** The Kubernetes API as this replica sees it: one client for all, and what each controller gets. */
@Module({
  providers: [
    {
      provide: CONNECTION,
      inject: [OPTIONS, CLOCK, LOGGER],
      useFactory: ({ context, kubeconfig }: CompiledReplicaOptions, clock: Clock, logger: Logger) =>
        loadKubeconfig({ path: kubeconfig, context, clock, logger }),
    },
    {
      provide: API_METRICS,
      inject: [METRICS],
      useFactory: ({ meter }: Metrics) => createApiClientMetrics(meter),
    },
    {
      provide: API_CLIENT,
      inject: [CONNECTION, CLOCK, RANDOM, LOGGER, API_METRICS],
      useFactory: (
        connection: ClusterConnection,
        clock: Clock,
        random: RandomSource,
        logger: Logger,
        metrics: ApiClientMetrics,
      ) => {
        const userAgent = `rollkeeper/${VERSION} (controller)`;
        return createHttpApiClient({ connection, userAgent, clock, random, logger, metrics });
      },
    },
    {
      provide: CONTROLLER_CLIENTS,
      inject: [API_CLIENT, CONNECTION, OPTIONS, CLOCK, RANDOM, LOGGER, API_METRICS],
      useFactory: (
        client: HttpApiClient,
        connection: ClusterConnection,
        options: CompiledReplicaOptions,
        clock: Clock,
        random: RandomSource,
        logger: Logger,
        metrics: ApiClientMetrics,
      ) => new ControllerClients({ client, connection, options, clock, random, logger, metrics }),
    },
  ],
  exports: [CONNECTION, API_CLIENT, CONTROLLER_CLIENTS],
})
export class KubernetesApiModule {}
