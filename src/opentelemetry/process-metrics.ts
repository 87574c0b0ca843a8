import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter } from '@opentelemetry/api';
import { METRICS } from '@rollkeeper/runtime/telemetry/metric-names';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { createMetrics } from './metrics.js';

/** Seconds in a nanosecond, which the event loop's histogram counts in. */
const NANO = 1e-9;
/**
 * How often the event loop is looked at. Each look wakes the process: every 10 ms they cost it 6 ms of CPU a second, a quarter of what an
 * idle replica uses; every 50 ms they cost 1.4.
 */
const LOOK_EVERY_MS = 50;

/**
 * The process itself, under the names that prom-client made usual for Node. The event loop's delay is that since the last
 * scrape. Returns what stops the measuring.
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
      // Not `quantile`, which Prometheus keeps for summaries.
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

/**
 * Seconds, of what the histogram has: nanoseconds from one look to the next. Without a sample it answers with numbers that
 * mean nothing.
 */
export function lateness(nanoseconds: number): number {
  const seconds = nanoseconds * NANO;
  return Number.isFinite(seconds) && seconds < 1e6 ? Math.max(seconds - LOOK_EVERY_MS / 1000, 0) : 0;
}
