import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { startTracing } from './tracing.js';

describe('tracing', () => {
  afterEach(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });

  const eventsKept = (env: NodeJS.ProcessEnv): number | undefined => {
    const exporter = new InMemorySpanExporter();
    const processors = [new SimpleSpanProcessor(exporter)];
    const { tracer } = startTracing({ serviceName: 'test', instance: 'a', version: '1', env, processors });
    const sync = tracer.startSpan('sync');
    for (let count = 0; count < 600; count++) sync.addEvent('create pods');
    sync.end();
    return exporter.getFinishedSpans()[0]?.events.length;
  };

  it('keeps the events of a sync that writes as much as it may at once', () => {
    expect(eventsKept({})).toBe(600);
  });

  it('keeps as few events as the standard variable asks for', () => {
    expect(eventsKept({ OTEL_SPAN_EVENT_COUNT_LIMIT: '100' })).toBe(100);
  });

  it('has the spans of a process that starts it again, and leaves alone what others have registered', async () => {
    const start = () => {
      const exporter = new InMemorySpanExporter();
      const options = { serviceName: 'test', instance: 'a', version: '1', env: {} };
      const processors = [new SimpleSpanProcessor(exporter)];
      return { exporter, tracing: startTracing({ ...options, processors }) };
    };
    await start().tracing.shutdown();
    const first = start();
    const second = start();
    await second.tracing.shutdown();
    first.tracing.tracer.startSpan('sync').end();
    trace.getTracer('of the application').startSpan('request').end();
    expect(first.exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['sync', 'request']);
  });
});
