import { Global, Module } from '@nestjs/common';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { RecentTraces, createProcessMetrics, startTracing } from '@rollkeeper/opentelemetry';
import { VERSION } from '@rollkeeper/machinery/version';
import type { CompiledReplicaOptions } from './replica.options.js';
import { CLOCK, LOGGER, METRICS, OPTIONS, RANDOM, TRACES, TRACING } from './tokens.js';

/** What every part uses: time, chance, log, metrics, spans. */
@Global()
@Module({
  providers: [
    { provide: CLOCK, useFactory: () => new SystemClock() },
    { provide: RANDOM, useFactory: () => new SystemRandom() },
    { provide: METRICS, useFactory: createProcessMetrics },
    {
      provide: LOGGER,
      inject: [OPTIONS],
      useFactory: (options: CompiledReplicaOptions) =>
        createPinoLogger({
          level: options['log-level'],
          format: options['log-format'],
          base: { replica: options.identity },
        }),
    },
    {
      provide: TRACES,
      inject: [OPTIONS],
      useFactory: (options: CompiledReplicaOptions) =>
        new RecentTraces(options.identity, options['recent-traces']),
    },
    {
      provide: TRACING,
      inject: [OPTIONS, TRACES],
      useFactory: (options: CompiledReplicaOptions, recent: RecentTraces) =>
        startTracing({
          serviceName: 'rollkeeper',
          instance: options.identity,
          version: VERSION,
          env: process.env,
          processors: options['recent-traces'] > 0 ? [recent] : [],
        }),
    },
  ],
  exports: [CLOCK, RANDOM, LOGGER, METRICS, TRACES, TRACING],
})
export class TelemetryModule {}
