import type { Tracer } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { beforeEach, describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../machinery/errors/index.js';
import { KeepImportantSpans, recordingAll } from './keep-important-spans.js';
import { samplerFromEnv } from './tracing.js';

let exporter: InMemorySpanExporter;
let processor: KeepImportantSpans;
let tracer: Tracer;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  processor = new KeepImportantSpans(new SimpleSpanProcessor(exporter), { slowMs: 1000 });
  const provider = new BasicTracerProvider({
    sampler: recordingAll(new AlwaysOffSampler()),
    spanProcessors: [processor],
  });
  tracer = provider.getTracer('test');
});

interface SyncShape {
  fails?: boolean;
  writeFails?: boolean;
  tookMs?: number;
}

/** A time of day: once the process is old enough, small numbers are read as times since its start. */
const START_MS = 1_700_000_000_000;

/** `change seen` → `queue` → `sync` → `write`, ended in the order of the real ones. */
function runSync({ fails = false, writeFails = false, tookMs = 1 }: SyncShape): void {
  const seen = tracer.startSpan('change seen', { kind: SpanKind.PRODUCER }, ROOT_CONTEXT);
  seen.end();
  const queue = tracer.startSpan('queue', {}, trace.setSpan(ROOT_CONTEXT, seen));
  queue.end();
  const sync = tracer.startSpan(
    'sync',
    { kind: SpanKind.CONSUMER, startTime: START_MS },
    trace.setSpan(ROOT_CONTEXT, queue),
  );
  const write = tracer.startSpan('write', { kind: SpanKind.CLIENT }, trace.setSpan(ROOT_CONTEXT, sync));
  if (writeFails) write.setStatus({ code: SpanStatusCode.ERROR });
  write.end();
  if (fails) sync.setStatus({ code: SpanStatusCode.ERROR });
  sync.end(START_MS + tookMs);
}

const exported = () => exporter.getFinishedSpans();

describe('spans that the sampler dropped', () => {
  it('stays dropped where all went well', () => {
    runSync({});
    expect(exported()).toEqual([]);
  });

  it.each([
    { name: 'failed', sync: { fails: true } },
    { name: 'was slow', sync: { tookMs: 1000 } },
    { name: 'went on after a write that failed', sync: { writeFails: true } },
  ])('is kept when the sync $name: with its wait, its writes, and no orphan', ({ sync }) => {
    runSync(sync);
    expect(
      exported()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['queue', 'sync', 'write']);
    const ids = new Set(exported().map((span) => span.spanContext().spanId));
    const orphans = exported().filter(
      ({ parentSpanContext }) => parentSpanContext && !ids.has(parentSpanContext.spanId),
    );
    expect(orphans).toEqual([]);
    expect(exported().find(({ name }) => name === 'queue')?.links).toHaveLength(1);
  });

  it('is remembered within bounds, however many traces there are', () => {
    for (let index = 0; index < 5000; index++) tracer.startSpan('queue', {}, ROOT_CONTEXT).end();
    expect(processor.size).toBeLessThanOrEqual(256);
  });
});

describe('the sampler', () => {
  it.each([
    [undefined, undefined, 'ParentBased{root=AlwaysOnSampler'],
    ['always_on', undefined, 'AlwaysOnSampler'],
    ['always_off', undefined, 'AlwaysOffSampler'],
    ['traceidratio', '0.25', 'TraceIdRatioBased{0.25}'],
    ['parentbased_traceidratio', '0.5', 'ParentBased{root=TraceIdRatioBased{0.5}'],
  ])('is what the standard variables ask for: %s %s', (name, argument, expected) => {
    const sampler = samplerFromEnv({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
    expect(sampler.toString()).toContain(expected);
  });

  it.each([
    ['sometimes', undefined],
    ['traceidratio', '2'],
    ['traceidratio', 'half'],
  ])('is refused where nobody can know what is meant: %s %s', (name, argument) => {
    const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(() => samplerFromEnv(env)).toThrow(InvalidOptionError);
  });

  it('goes on to choose: what it samples passes at once', () => {
    const provider = new BasicTracerProvider({
      sampler: recordingAll(new TraceIdRatioBasedSampler(1)),
      spanProcessors: [processor],
    });
    provider.getTracer('test').startSpan('any').end();
    expect(exported().map(({ name }) => name)).toEqual(['any']);
  });
});
