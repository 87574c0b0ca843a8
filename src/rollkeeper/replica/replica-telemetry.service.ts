import type { OnModuleDestroy } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { Logger } from '@rollkeeper/machinery/logging';
import { createPinoLogger } from '@rollkeeper/machinery/logging';
import { VERSION } from '@rollkeeper/machinery/version';
import { RecentTraces, createProcessMetrics, startTracing } from '@rollkeeper/opentelemetry';
import type { Metrics, Tracing } from '@rollkeeper/runtime/telemetry';
import { closeAll } from './close-all.js';
import type { CompiledReplicaOptions } from './replica.options.js';

interface Parts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly traces: RecentTraces;
}

/**
 * A replica's log, metrics and spans. Its module is global, so Nest destroys it after everything that still uses it.
 */
@Injectable()
export class ReplicaTelemetry implements OnModuleDestroy {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The spans shown in the console. */
  readonly traces: RecentTraces;

  constructor({ logger, metrics, traces, tracing }: Parts) {
    this.logger = logger;
    this.metrics = metrics;
    this.traces = traces;
    this.tracing = tracing;
  }

  static start(this: void, options: CompiledReplicaOptions): ReplicaTelemetry {
    const { identity, 'recent-traces': shown } = options;
    const traces = new RecentTraces(identity, shown);
    return new ReplicaTelemetry({
      logger: createPinoLogger({
        level: options['log-level'],
        format: options['log-format'],
        base: { replica: identity },
      }),
      metrics: createProcessMetrics(),
      traces,
      tracing: startTracing({
        serviceName: 'rollkeeper',
        instance: identity,
        version: VERSION,
        env: process.env,
        processors: shown > 0 ? [traces] : [],
      }),
    });
  }

  onModuleDestroy(): Promise<void> {
    return closeAll(this.logger, [this.tracing.shutdown(), this.metrics.shutdown()]);
  }
}
