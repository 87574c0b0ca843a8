import type { Tracer } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions/incubating';

export interface TracingOptions {
  /** `service.name` of every span, unless `OTEL_SERVICE_NAME` says otherwise. */
  serviceName: string;
  /** `service.instance.id`: the replica. */
  instance: string;
  version: string;
  /** The environment to read OpenTelemetry's own variables from. */
  env: NodeJS.ProcessEnv;
}

export interface Tracing {
  readonly tracer: Tracer;
  readonly enabled: boolean;
  /** Sends what is still held back; bounded by the exporter's own time-out. */
  shutdown(): Promise<void>;
}

/**
 * Spans go out by OTLP when `OTEL_EXPORTER_OTLP_ENDPOINT` (or its `_TRACES_` form) is set, and cost next to
 * nothing when it is not. Endpoint, headers, sampler and batch sizes are OpenTelemetry's standard variables. A
 * collector that is down loses spans and nothing else: the batch is bounded.
 */
export function startTracing({ serviceName, instance, version, env }: TracingOptions): Tracing {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint || env['OTEL_SDK_DISABLED'] === 'true') {
    return { tracer: trace.getTracer('rollkeeper'), enabled: false, shutdown: () => Promise.resolve() };
  }
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        [ATTR_SERVICE_NAME]: env['OTEL_SERVICE_NAME'] ?? serviceName,
        [ATTR_SERVICE_INSTANCE_ID]: instance,
        [ATTR_SERVICE_VERSION]: version,
      }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return {
    tracer: trace.getTracer('rollkeeper', version),
    enabled: true,
    shutdown: () => provider.shutdown(),
  };
}
