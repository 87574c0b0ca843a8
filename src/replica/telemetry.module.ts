import { Global, Module } from '@nestjs/common';
import { SystemClock, SystemRandom } from '../clock/index.js';
import { createPinoLogger } from '../logging/index.js';
import { createProcessMetrics, startTracing } from '../telemetry/index.js';
import { VERSION } from '../version.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { CLOCK, LOGGER, METRICS, OPTIONS, RANDOM, TRACING } from './tokens.js';

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
      provide: TRACING,
      inject: [OPTIONS],
      useFactory: ({ identity }: CompiledReplicaOptions) =>
        startTracing({ serviceName: 'rollkeeper', instance: identity, version: VERSION, env: process.env }),
    },
  ],
  exports: [CLOCK, RANDOM, LOGGER, METRICS, TRACING],
})
export class TelemetryModule {}
