/**
 * The process's metrics and spans by OpenTelemetry's SDK: `import { … } from 'rollkeeper/opentelemetry'`. `createManager` loads it
 * by itself where it is not given metrics and tracing.
 * @packageDocumentation
 */
import '../base/process/require-node.js';

export { createMetrics } from './telemetry/metrics.js';
export type { Metrics } from './telemetry/metrics.js';
export { createProcessMetrics } from './telemetry/process-metrics.js';
export { RecentTraces } from './telemetry/recent-traces.js';
export type { ShownSpan } from './telemetry/recent-traces.js';
export { SHUTDOWN_TIMEOUT_MS, startTracing } from './telemetry/tracing.js';
export type { Tracing, TracingOptions } from './telemetry/tracing.js';
