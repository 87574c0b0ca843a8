import { ROOT_CONTEXT, TraceFlags, context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EMPTY_CONTEXT } from './linked-context.js';
import { TRACE_ANNOTATION, TRACE_CONTINUES_MS, annotateWithActiveSpan, traceOf } from './trace-annotation.js';
import { formatTraceparent, linksTo, parseTraceparent } from './traceparent.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const NOW = Date.UTC(2026, 0, 1);
const annotated = (value: string) => ({ metadata: { annotations: { [TRACE_ANNOTATION]: value } } });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe('a traceparent', () => {
  it('survives being written and read', () => {
    const parsed = parseTraceparent(TRACEPARENT);
    expect(parsed).toMatchObject({ traceFlags: TraceFlags.SAMPLED, isRemote: true });
    expect(parsed && formatTraceparent(parsed)).toBe(TRACEPARENT);
  });

  it.each([
    undefined,
    '',
    'trace-1',
    TRACEPARENT.toUpperCase(),
    `01${TRACEPARENT.slice(2)}`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `${TRACEPARENT}-more`,
  ])('is ignored where it is not well-formed: %s', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
    expect(linksTo(text === undefined ? undefined : [text])).toEqual([]);
  });
});

describe('the annotation', () => {
  it('is the parent of what follows while it is fresh', () => {
    const { links, parent } = traceOf(annotated(`${TRACEPARENT};at=2025-12-31T23:59:00Z`), NOW);
    expect(trace.getSpanContext(parent)?.spanId).toBe('b7ad6b7169203331');
    expect(links).toEqual([]);
  });

  it('is only linked once the change is another story', () => {
    const later = Date.parse('2025-12-31T23:59:00Z') + TRACE_CONTINUES_MS + 1;
    const { links, parent } = traceOf(annotated(`${TRACEPARENT};at=2025-12-31T23:59:00Z`), later);
    expect(parent).toBe(EMPTY_CONTEXT);
    expect(links[0]?.context.spanId).toBe('b7ad6b7169203331');
  });

  it.each(['', 'nonsense', TRACEPARENT, `${TRACEPARENT};at=soon`])(
    'begins a trace of its own if somebody made it up, and breaks nothing: "%s"',
    (value) => {
      expect(traceOf(annotated(value), NOW).parent).toBe(EMPTY_CONTEXT);
    },
  );

  it('is put on with the active span, other annotations kept', () => {
    const provider = new BasicTracerProvider();
    const span = provider.getTracer('test').startSpan('write');
    const object = { metadata: { annotations: { mine: '1' } } };
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => annotateWithActiveSpan(object, NOW));
    expect(object.metadata.annotations).toEqual({
      mine: '1',
      [TRACE_ANNOTATION]: `${formatTraceparent(span.spanContext())};at=2026-01-01T00:00:00Z`,
    });
  });

  it('is left off outside of spans, and where the span of another process is only passed through', () => {
    const object = { metadata: {} };
    annotateWithActiveSpan(object, NOW);
    const passedThrough = parseTraceparent(TRACEPARENT);
    context.with(trace.setSpanContext(ROOT_CONTEXT, passedThrough!), () =>
      annotateWithActiveSpan(object, NOW),
    );
    expect(object).toEqual({ metadata: {} });
  });
});
