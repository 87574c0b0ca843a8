import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { prometheusText } from './prometheus-text.js';

/** Collects when it is asked, and not by itself. */
class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** Collects on demand; runs nothing in the background. */
export function createMetrics(): Metrics {
  const reader = new ReaderOnDemand();
  const provider = new MeterProvider({ readers: [reader] });
  return {
    meter: provider.getMeter('rollkeeper'),
    async serialize() {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw new AggregateError(errors, 'some metrics could not be collected');
      return prometheusText(resourceMetrics);
    },
    shutdown: () => provider.shutdown(),
  };
}
