/** Whether OpenTelemetry's own variables name a place for spans. */
export function sendsSpans(env: NodeJS.ProcessEnv): boolean {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return Boolean(endpoint) && env['OTEL_TRACES_EXPORTER'] !== 'none';
}
