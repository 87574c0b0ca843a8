import type {
  Attributes,
  AttributeValue,
  Context,
  HrTime,
  Span,
  TimeInput,
  Tracer,
} from '@opentelemetry/api';
import { SpanStatusCode, context, propagation, trace } from '@opentelemetry/api';
import type { IdGenerator, ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { RandomSource } from '../../src/machinery/clock/index.js';
import type { Tracing } from '../../src/runtime/telemetry/index.js';
import type { Kernel, SimulatedProcess } from '../../src/testing/simulation/index.js';

/** The true time's start, as a replica's clock without any error has it: 2026-01-01. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
const [TRACE_ID_DIGITS, SPAN_ID_DIGITS] = [32, 16];
const NANOSECONDS = 1_000_000_000;

/**
 * The spans of a run: those that the runtime makes in production, with ids of the seed and the true time of the simulation. The
 * error of a process' clock is not in them. While it is open, the globals of OpenTelemetry are its own.
 */
export class SimulatedSpans {
  private readonly exporters = new Map<string, InMemorySpanExporter>();

  /** @param api asks for the global tracer: a request of a client without spans begins a trace */
  constructor(
    private readonly kernel: Kernel,
    api: SimulatedProcess,
  ) {
    // For the context that follows promises.
    new NodeTracerProvider().register();
    trace.disable();
    const tracer = this.tracerOf(api);
    trace.setGlobalTracerProvider({ getTracer: () => tracer });
  }

  /** The tracing of a replica. */
  tracingOf(process: SimulatedProcess): Tracing {
    return { tracer: this.tracerOf(process), enabled: true, shutdown: async () => undefined };
  }

  /** All that have ended, by process, as OTLP/JSON: equal for equal runs. */
  asText(): string {
    const resourceSpans = [...this.exporters].map(([name, exporter]) => ({
      resource: { attributes: attributesOf({ 'service.name': 'rollkeeper', 'service.instance.id': name }) },
      scopeSpans: [{ scope: { name: 'rollkeeper' }, spans: exporter.getFinishedSpans().map(encoded) }],
    }));
    return `${JSON.stringify({ resourceSpans })}\n`;
  }

  close(): void {
    trace.disable();
    context.disable();
    propagation.disable();
  }

  private tracerOf(process: SimulatedProcess): Tracer {
    const exporter = new InMemorySpanExporter();
    this.exporters.set(process.name, exporter);
    const provider = new BasicTracerProvider({
      sampler: new AlwaysOnSampler(),
      idGenerator: idsOf(this.kernel.randomOf(`spans of ${process.name}`)),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    return new TimedTracer(provider.getTracer('rollkeeper'), (given) => this.timeOf(process, given));
  }

  /** A time by the clock of a process, or now, as the true time. */
  private timeOf({ clock }: SimulatedProcess, given: TimeInput | undefined): HrTime {
    const agoMs = typeof given === 'number' ? Math.max(clock.now() - given, 0) : 0;
    const atMs = this.kernel.nowMs - agoMs;
    const seconds = Math.floor(atMs / 1000);
    return [EPOCH_MS / 1000 + seconds, Math.round((atMs - seconds * 1000) * 1e6)];
  }
}

/** A tracer whose spans begin, end and have events at the times of another clock than the platform's. */
class TimedTracer implements Tracer {
  readonly startActiveSpan: Tracer['startActiveSpan'] = <F extends (span: Span) => unknown>(
    name: string,
    ...rest: readonly unknown[]
  ): ReturnType<F> => {
    const work = rest.at(-1) as F;
    const [options, parent] = rest.slice(0, -1) as [Parameters<Tracer['startSpan']>[1]?, Context?];
    const above = parent ?? context.active();
    const span = this.startSpan(name, options, above);
    return context.with(trace.setSpan(above, span), () => work(span) as ReturnType<F>);
  };

  constructor(
    private readonly inner: Tracer,
    private readonly timeOf: (given: TimeInput | undefined) => HrTime,
  ) {}

  startSpan(name: string, options: Parameters<Tracer['startSpan']>[1] = {}, parent?: Context): Span {
    const { timeOf } = this;
    const span = this.inner.startSpan(name, { ...options, startTime: timeOf(options.startTime) }, parent);
    const [addEvent, end, recordException] = [
      span.addEvent.bind(span),
      span.end.bind(span),
      span.recordException.bind(span),
    ];
    span.end = (at) => end(timeOf(at));
    span.addEvent = (event, attributes, at) => addEvent(event, attributes, timeOf(at));
    span.recordException = (error, at) => recordException(error, timeOf(at));
    return span;
  }
}

function idsOf(random: RandomSource): IdGenerator {
  const digits = (count: number): string =>
    Array.from({ length: count }, () => Math.floor(random.next() * 16).toString(16)).join('');
  return {
    generateTraceId: () => digits(TRACE_ID_DIGITS),
    generateSpanId: () => digits(SPAN_ID_DIGITS),
  };
}

function encoded(span: ReadableSpan): object {
  const { attributes, endTime, events, kind, links, name, parentSpanContext, startTime, status } = span;
  const { spanId, traceId } = span.spanContext();
  return {
    ...{ traceId, spanId, ...(parentSpanContext && { parentSpanId: parentSpanContext.spanId }), name },
    // The protocol counts kinds from 1 on.
    kind: kind + 1,
    startTimeUnixNano: nanosecondsOf(startTime),
    endTimeUnixNano: nanosecondsOf(endTime),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanosecondsOf(event.time),
      name: event.name,
      attributes: attributesOf(withoutStack(event.attributes)),
    })),
    links: links.map((link) => ({
      ...{ traceId: link.context.traceId, spanId: link.context.spanId },
      attributes: attributesOf(link.attributes),
    })),
    status: status.code === SpanStatusCode.UNSET ? {} : { code: status.code, message: status.message },
  };
}

/** A stack names files of this machine. */
function withoutStack({ 'exception.stacktrace': _, ...rest }: Attributes = {}): Attributes {
  return rest;
}

/** A double has too few digits for it. */
function nanosecondsOf([seconds, nanoseconds]: HrTime): string {
  return String(BigInt(seconds) * BigInt(NANOSECONDS) + BigInt(nanoseconds));
}

function attributesOf(attributes: Attributes = {}): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  );
}

function valueOf(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  const values = value.flatMap((each) => (each === null || each === undefined ? [] : [valueOf(each)]));
  return { arrayValue: { values } };
}
