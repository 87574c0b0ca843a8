import { hostname } from 'node:os';
import { Module } from '@nestjs/common';
import type { HttpApiClient } from '../api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../api-client/index.js';
import type { Clock, RandomSource } from '../clock/index.js';
import { ApiEventRecorder } from '../events/index.js';
import { InformerFactory } from '../informer/index.js';
import type { Logger } from '../logging/index.js';
import type { Metrics } from '../telemetry/index.js';
import { createApiClientMetrics, createEventRecorderMetrics } from '../telemetry/index.js';
import { VERSION } from '../version.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { API_CLIENT, CLOCK, EVENTS, INFORMERS, LOGGER, METRICS, OPTIONS, RANDOM } from './tokens.js';

/** A watch that cannot be resumed is tried at least so often: a short outage must not cost half a minute. */
const LONGEST_WATCH_BACKOFF_MS = 5000;

/** The Kubernetes API as this replica sees it: client, caches, events. */
@Module({
  providers: [
    {
      provide: API_CLIENT,
      inject: [OPTIONS, CLOCK, RANDOM, LOGGER, METRICS],
      useFactory: async (
        options: CompiledReplicaOptions,
        clock: Clock,
        random: RandomSource,
        logger: Logger,
        { meter }: Metrics,
      ) =>
        createHttpApiClient({
          connection: await loadKubeconfig({ path: options.kubeconfig, context: options.context, clock }),
          userAgent: `rollkeeper/${VERSION} (controller)`,
          clock,
          random,
          logger,
          metrics: createApiClientMetrics(meter),
        }),
    },
    {
      provide: INFORMERS,
      inject: [API_CLIENT, CLOCK, RANDOM, LOGGER],
      useFactory: (client: HttpApiClient, clock: Clock, random: RandomSource, logger: Logger) =>
        new InformerFactory({ client, clock, random, logger, maxBackoffMs: LONGEST_WATCH_BACKOFF_MS }),
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
  exports: [API_CLIENT, INFORMERS, EVENTS],
})
export class KubernetesApiModule {}
