import { untilAborted } from '@rollkeeper/machinery/cancellation';
import type { Tracing } from '@rollkeeper/runtime/telemetry';
import { ProxyTracerProvider, context, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import type { Sampler, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import {
  BatchSpanProcessor,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions/incubating';
import { KeepImportantSpans, recordingAll } from './keep-important-spans.js';
import { sendsSpans, untraced } from './untraced.js';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** The options of {@link startTracing}. */
export interface TracingOptions {
  /** `service.name` of every span, unless `OTEL_SERVICE_NAME` is set. */
  serviceName: string;
  /** `service.instance.id`: the replica. */
  instance: string;
  version: string;
  /** The environment to read OpenTelemetry's own variables from. */
  env: NodeJS.ProcessEnv;
  /** Also receive every span, for example to show it; with processors, spans are recorded even if none are exported. */
  processors?: readonly SpanProcessor[];
}

/** A collector that does not answer must not delay the end of the process. */
export const SHUTDOWN_TIMEOUT_MS = 2000;
/** A sync that took this long is kept even if not sampled; `ROLLKEEPER_TRACES_SLOW_MS` changes it. */
const SLOW_MS = 1000;
/** Limit of spans waiting for export, unless `OTEL_BSP_MAX_QUEUE_SIZE` is set; more are dropped. */
const MAX_QUEUE_SIZE = 8192;
/**
 * Limit of events per span, unless `OTEL_SPAN_EVENT_COUNT_LIMIT` is set; the oldest are dropped first. The standard's
 * 128 is less than the number of writes in a sync that creates as many pods as allowed at once.
 */
const MAX_EVENTS = 1024;

/**
 * Exports spans by OTLP if `OTEL_EXPORTER_OTLP_ENDPOINT` (or its `_TRACES_` form) is set; otherwise spans cost next to
 * nothing. `OTEL_SDK_DISABLED=true` turns everything off, `OTEL_TRACES_EXPORTER=none` only the export. Endpoint,
 * headers, sampler and batch sizes come from OpenTelemetry's standard variables. Failed and slow syncs are kept with
 * any sampler except the `always_off` ones. A collector that is down loses spans and has no other effect: the batch is
 * bounded and nothing waits for it.
 */
export function startTracing(options: TracingOptions): Tracing {
  const { env, instance, processors = [], serviceName, version } = options;
  const sends = sendsSpans(env);
  if ((!sends && processors.length === 0) || env['OTEL_SDK_DISABLED'] === 'true') return untraced();
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        [ATTR_SERVICE_NAME]: env['OTEL_SERVICE_NAME'] ?? serviceName,
        [ATTR_SERVICE_INSTANCE_ID]: instance,
        [ATTR_SERVICE_VERSION]: version,
      }),
    ),
    sampler: samplerFor(env),
    spanLimits: { eventCountLimit: numberOf(env['OTEL_SPAN_EVENT_COUNT_LIMIT']) ?? MAX_EVENTS },
    spanProcessors: [...(sends ? [sendingProcessor(env)] : []), ...processors],
  });
  provider.register();
  return {
    tracer: trace.getTracer('rollkeeper', version),
    enabled: true,
    shutdown: async () => {
      await withinTimeout(provider.shutdown());
      unregister(provider);
    },
  };
}

/**
 * Without this, a later start in the same process would have no traces: OpenTelemetry keeps the first provider
 * registered.
 */
function unregister(provider: NodeTracerProvider): void {
  const registered = trace.getTracerProvider();
  if (!(registered instanceof ProxyTracerProvider) || registered.getDelegate() !== provider) return;
  trace.disable();
  context.disable();
  propagation.disable();
}

function samplerFor(env: NodeJS.ProcessEnv): Sampler {
  const sampler = samplerFromEnv(env);
  return env['OTEL_TRACES_SAMPLER']?.endsWith('always_off') ? sampler : recordingAll(sampler);
}

function sendingProcessor(env: NodeJS.ProcessEnv): SpanProcessor {
  const maxQueueSize = numberOf(env['OTEL_BSP_MAX_QUEUE_SIZE']) ?? MAX_QUEUE_SIZE;
  const batch = new BatchSpanProcessor(new OTLPTraceExporter(), { maxQueueSize });
  return new KeepImportantSpans(batch, { slowMs: numberOf(env['ROLLKEEPER_TRACES_SLOW_MS']) ?? SLOW_MS });
}

function numberOf(text: string | undefined): number | undefined {
  const number = Number(text);
  return text && Number.isFinite(number) && number > 0 ? number : undefined;
}

async function withinTimeout(work: Promise<void>): Promise<void> {
  await untilAborted(work, AbortSignal.timeout(SHUTDOWN_TIMEOUT_MS)).catch(() => undefined);
}

/**
 * The sampler configured by OpenTelemetry's standard variables: `OTEL_TRACES_SAMPLER` (default `parentbased_always_on`)
 * and `OTEL_TRACES_SAMPLER_ARG`, the ratio.
 * @throws InvalidOptionError for a value that the standard does not define: an error is better than half a trace
 */
export function samplerFromEnv(env: NodeJS.ProcessEnv): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const root = rootSampler(name.replace(/^parentbased_/, ''), env['OTEL_TRACES_SAMPLER_ARG']);
  if (!root) throw new InvalidOptionError('OTEL_TRACES_SAMPLER', `"${name}" is not a known sampler`);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, argument: string | undefined): Sampler | undefined {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  if (name !== 'traceidratio') return undefined;
  const ratio = argument === undefined || argument === '' ? 1 : Number(argument);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new InvalidOptionError('OTEL_TRACES_SAMPLER_ARG', `"${argument}" is not a number between 0 and 1`);
  }
  return new TraceIdRatioBasedSampler(ratio);
}
