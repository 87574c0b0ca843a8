import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from '@opentelemetry/api';
import { METRICS } from './metric-names.js';
import type { Metrics } from './metrics.js';
import { createMetrics } from './metrics.js';

/** Seconds in a nanosecond, which the event loop's histogram counts in. */
const NANO = 1e-9;

/**
 * The process itself, under the names that prom-client made usual for Node. The event loop's delay is that since the last
 * scrape. Returns what stops the measuring.
 */
function observeProcess(meter: Meter): () => void {
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  const gauge = (name: string, description: string, read: () => number): void =>
    meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(read()));

  meter
    .createObservableGauge(METRICS.eventLoopDelay, {
      description:
        'Seconds that the event loop was late since the last scrape, by quantile (1 is the longest)',
    })
    .addCallback((result) => {
      for (const quantile of [0.5, 0.9, 0.99])
        result.observe(finite(loop.percentile(quantile * 100) * NANO), { quantile: String(quantile) });
      result.observe(finite(loop.max * NANO), { quantile: '1' });
      loop.reset();
    });
  gauge(METRICS.residentMemory, 'Bytes of memory that the process has resident', () =>
    process.memoryUsage.rss(),
  );
  gauge(METRICS.heapUsed, "Bytes of JavaScript's heap in use", () => process.memoryUsage().heapUsed);
  gauge(
    METRICS.startTime,
    'When the process started, seconds since 1970',
    () => performance.timeOrigin / 1000,
  );
  meter
    .createObservableCounter(METRICS.cpuSeconds, { description: 'Seconds of CPU that the process has used' })
    .addCallback((result) => {
      const { system, user } = process.cpuUsage();
      result.observe((system + user) / 1e6);
    });
  return () => loop.disable();
}

/** The metrics of a process, those of the process itself included. */
export function createProcessMetrics(): Metrics {
  const metrics = createMetrics();
  const stopObserving = observeProcess(metrics.meter);
  return {
    ...metrics,
    shutdown: () => {
      stopObserving();
      return metrics.shutdown();
    },
  };
}

/** Without a sample the histogram answers with numbers that mean nothing. */
function finite(seconds: number): number {
  return Number.isFinite(seconds) && seconds < 1e6 ? seconds : 0;
}
