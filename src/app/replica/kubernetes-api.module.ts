import { hostname } from 'node:os';
import { Module } from '@nestjs/common';
import type { ApiClientMetrics, ClusterConnection, HttpApiClient } from '../../kit/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../kit/api-client/index.js';
import type { Clock, RandomSource } from '../../base/clock/index.js';
import { ApiEventRecorder } from '../../kit/events/index.js';
import { InformerFactory, trimsFor } from '../../kit/informer/index.js';
import { DEPLOYMENTS, qualifiedResource } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { Metrics } from '../../kit/telemetry/index.js';
import { createApiClientMetrics, createEventRecorderMetrics } from '../../kit/telemetry/index.js';
import { VERSION } from '../../base/version.js';
import { ControllerClients } from './controller-clients.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import {
  API_CLIENT,
  API_METRICS,
  CLOCK,
  CONNECTION,
  CONTROLLER_CLIENTS,
  EVENTS,
  INFORMERS,
  LOGGER,
  METRICS,
  OPTIONS,
  RANDOM,
} from './tokens.js';

/** A watch that cannot be resumed is tried at least so often: a short outage must not cost half a minute. */
const LONGEST_WATCH_BACKOFF_MS = 5000;

/** The Kubernetes API as this replica sees it: client, caches, events. */
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
    {
      provide: INFORMERS,
      inject: [OPTIONS, API_CLIENT, CLOCK, RANDOM, LOGGER],
      useFactory: (
        { definitions, scope }: CompiledReplicaOptions,
        client: HttpApiClient,
        clock: Clock,
        random: RandomSource,
        logger: Logger,
      ) =>
        new InformerFactory({
          ...{ client, clock, random, logger, maxBackoffMs: LONGEST_WATCH_BACKOFF_MS },
          namespaces: scope.namespaces,
          trims: trimsFor(definitions),
          selections: { [qualifiedResource(DEPLOYMENTS)]: { labelSelector: scope.selector } },
        }),
    },
    {
      provide: EVENTS,
      inject: [API_CLIENT, CLOCK, RANDOM, LOGGER, METRICS],
      useFactory: (
        client: HttpApiClient,
        clock: Clock,
        random: RandomSource,
        logger: Logger,
        { meter }: Metrics,
      ) =>
        new ApiEventRecorder({
          client,
          component: 'rollkeeper',
          host: hostname(),
          clock,
          random,
          logger,
          metrics: createEventRecorderMetrics(meter),
        }),
    },
  ],
  exports: [CONNECTION, API_CLIENT, CONTROLLER_CLIENTS, INFORMERS, EVENTS],
})
export class KubernetesApiModule {}
