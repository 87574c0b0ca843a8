import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { SpanStatusCode, context, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { RecentTraces } from './recent-traces.js';

/** A time of day: once the process is old enough, small numbers are read as times since its start. */
const START_MS = 1_700_000_000_000;

describe('the recent traces', () => {
  const setUp = (limit: number) => {
    const recent = new RecentTraces('controller-0', limit);
    const tracer = new BasicTracerProvider({ spanProcessors: [recent] }).getTracer('test');
    return { recent, tracer };
  };

  it('keeps the spans of a trace with their parents', () => {
    const { recent, tracer } = setUp(10);
    const sync = tracer.startSpan('sync deployment', { startTime: START_MS });
    const write = tracer.startSpan(
      'update',
      { startTime: START_MS + 10 },
      trace.setSpan(context.active(), sync),
    );
    write.setStatus({ code: SpanStatusCode.ERROR, message: 'it was changed meanwhile' });
    write.end(START_MS + 30);
    sync.end(START_MS + 50);
    const { spanId, traceId } = sync.spanContext();
    expect(recent.of(traceId)).toMatchObject([
      {
        spanId,
        name: 'sync deployment',
        replica: 'controller-0',
        startMs: START_MS,
        durationMs: 50,
        failed: false,
      },
      {
        parentId: spanId,
        name: 'update',
        startMs: START_MS + 10,
        durationMs: 20,
        failed: true,
        error: 'it was changed meanwhile',
      },
    ]);
  });

  it('keeps what happened in a span', () => {
    const { recent, tracer } = setUp(10);
    const sync = tracer.startSpan('sync deployment', { startTime: START_MS });
    sync.addEvent('update deployments/status', { 'rollkeeper.took_ms': 3 }, START_MS + 20);
    sync.end(START_MS + 50);
    expect(recent.of(sync.spanContext().traceId)[0]?.events).toEqual([
      { name: 'update deployments/status', atMs: START_MS + 20, attributes: { 'rollkeeper.took_ms': 3 } },
    ]);
  });

  it('forgets the oldest trace', () => {
    const { recent, tracer } = setUp(2);
    const ids = [1, 2, 3].map((number) => {
      const span = tracer.startSpan(`sync ${number}`);
      span.end();
      return span.spanContext().traceId;
    });
    expect(ids.map((id) => recent.of(id).length)).toEqual([0, 1, 1]);
  });

  it('keeps a bounded number of spans of one trace', () => {
    const { recent, tracer } = setUp(2);
    const root = tracer.startSpan('root');
    for (let count = 0; count < 400; count++)
      tracer.startSpan('child', {}, trace.setSpan(context.active(), root)).end();
    expect(recent.of(root.spanContext().traceId)).toHaveLength(300);
  });
});
