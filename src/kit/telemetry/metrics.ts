import type { Meter } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** The process's metrics: a meter to make instruments from, and their state as Prometheus' text. */
export interface Metrics {
  readonly meter: Meter;
  /** The exposition text, version 0.0.4. */
  serialize(): Promise<string>;
  shutdown(): Promise<void>;
}

/** Collects on demand; nothing runs in the background. */
export function createMetrics(): Metrics {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
  });
  const provider = new MeterProvider({ readers: [exporter] });
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return {
    meter: provider.getMeter('rollkeeper'),
    async serialize() {
      const { resourceMetrics, errors } = await exporter.collect();
      if (errors.length > 0) throw new AggregateError(errors, 'some metrics could not be collected');
      return serializer.serialize(resourceMetrics);
    },
    shutdown: () => provider.shutdown(),
  };
}
