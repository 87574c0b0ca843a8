import { trace } from '@opentelemetry/api';
import type { Tracing } from '@rollkeeper/runtime/telemetry';

/** Spans that cost next to nothing. */
export function untraced(): Tracing {
  return { tracer: trace.getTracer('rollkeeper'), enabled: false, shutdown: () => Promise.resolve() };
}

/** Whether OpenTelemetry's own variables name a place for spans. */
export function sendsSpans(env: NodeJS.ProcessEnv): boolean {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return Boolean(endpoint) && env['OTEL_TRACES_EXPORTER'] !== 'none';
}
