/**
 * Metrics and spans of the process by OpenTelemetry's SDK: `import { … } from 'rollkeeper/opentelemetry'`.
 * `createManager` loads it unless it is given metrics and tracing.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { createMetrics } from './metrics.js';
export { createProcessMetrics } from './process-metrics.js';
export { RecentTraces } from './recent-traces.js';
export type { ShownSpan } from './recent-traces.js';
export { SHUTDOWN_TIMEOUT_MS, startTracing } from './tracing.js';
export type { TracingOptions } from './tracing.js';
export type { Metrics, Tracing } from '@rollkeeper/runtime/telemetry';
