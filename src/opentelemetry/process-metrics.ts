import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from '@opentelemetry/api';
import { METRICS } from '@rollkeeper/runtime/telemetry/metric-names';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { createMetrics } from './metrics.js';

/** Seconds per nanosecond, the unit of the event loop's histogram. */
const NANO = 1e-9;
/**
 * Sampling interval of the event loop. Each sample wakes the process: every 10 ms costs 6 ms of CPU a second, a quarter
 * of an idle replica's use; every 50 ms costs 1.4 ms.
 */
const LOOK_EVERY_MS = 50;

/**
 * Metrics of the process itself, under the names that prom-client established for Node. The event loop's delay covers
 * the time since the last scrape. Returns a function that stops measuring.
 */
function observeProcess(meter: Meter): () => void {
  const loop = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  loop.enable();
  const gauge = (name: string, description: string, read: () => number): void =>
    meter.createObservableGauge(name, { description }).addCallback((result) => result.observe(read()));

  meter
    .createObservableGauge(METRICS.eventLoopDelay, {
      description:
        'Seconds that the event loop was late since the last scrape, by percentile (100 is the longest)',
    })
    .addCallback((result) => {
      // Not `quantile`: Prometheus reserves that label for summaries.
      for (const percentile of [50, 90, 99])
        result.observe(lateness(loop.percentile(percentile)), { percentile: String(percentile) });
      result.observe(lateness(loop.max), { percentile: '100' });
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

/** The metrics of a process, including those about the process itself. */
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

/**
 * Seconds of delay from the histogram's nanoseconds between two samples. Without samples the histogram returns
 * meaningless numbers.
 */
export function lateness(nanoseconds: number): number {
  const seconds = nanoseconds * NANO;
  return Number.isFinite(seconds) && seconds < 1e6 ? Math.max(seconds - LOOK_EVERY_MS / 1000, 0) : 0;
}
