import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** Collects on demand; runs nothing in the background. */
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
