import type { Tracer } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { Deployment } from '../../machinery/kubernetes/index.js';
import {
  TRACE_ANNOTATION,
  formatTraceparent,
  parseTraceparent,
} from '../../machinery/trace-context/index.js';
import { ChangeSpan } from './change-span.js';
import type { EnqueueRequest } from './controller-definition.js';

const WRITE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function web(replicas: number, metadata: object = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'a', name: 'web', resourceVersion: '7', ...metadata },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: {} },
  };
}

describe('the span of a change', () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const annotations = { [TRACE_ANNOTATION]: `${WRITE};at=2026-01-01T00:00:00Z` };
  const request = {
    ref: { namespace: 'a', name: 'web' },
    cause: { type: Deployment, resourceVersion: '7' },
    change: { type: 'modified', old: web(1), object: web(2, { annotations }) },
    reason: 'user-change',
    priority: 'high',
  } as const;

  let exporter: InMemorySpanExporter;
  const start = (tracer?: Tracer, seen: EnqueueRequest = request): ChangeSpan | undefined => {
    exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const options = { clock, controller: 'deployment', tracer: tracer ?? provider.getTracer('test') };
    return ChangeSpan.start(seen, options);
  };

  it('goes on with the write that the object names, and says what was seen', () => {
    const started = start();
    started?.end();
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(span?.spanContext()).toMatchObject({ spanId: parseTraceparent(started?.traceparent)?.spanId });
    expect(span?.attributes).toMatchObject({
      'k8s.event': 'modified',
      'k8s.kind': 'Deployment',
      'k8s.resource_version': '7',
      'rollkeeper.differs': ['spec.replicas'],
      'rollkeeper.key': 'a/web',
    });
    expect(span?.attributes).not.toHaveProperty('rollkeeper.merged');
  });

  it('links the writes of merged changes of other traces, names the first ones and counts all that were merged', () => {
    const started = start();
    const other = WRITE.replace('0af7', '1bf7');
    const ofOtherTrace = web(2, { annotations: { [TRACE_ANNOTATION]: `${other};at=2026-01-01T00:00:00Z` } });
    for (let index = 0; index < 20; index++) {
      started?.merge(request);
      started?.merge({ ...request, change: { ...request.change, object: ofOtherTrace } });
    }
    expect(started?.isOpen).toBe(true);
    started?.end();
    expect(started?.isOpen).toBe(false);
    const [span] = exporter.getFinishedSpans();
    expect(span?.attributes['rollkeeper.merged']).toBe(40);
    expect(span?.attributes['rollkeeper.merged_changes']).toEqual(
      Array(16).fill('modified Deployment a/web'),
    );
    expect(span?.links.map((link) => formatTraceparent(link.context))).toEqual(Array(16).fill(other));
  });

  it('is not sent where there turned out to be nothing to do', () => {
    const started = start();
    started?.end({ isNeeded: false });
    expect(started?.isOpen).toBe(false);
    started?.end();
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  const spanOf = (seen: EnqueueRequest) => {
    start(undefined, seen)?.end();
    return exporter.getFinishedSpans()[0];
  };

  it('names the object by itself where nothing has to be waited for', () => {
    const { cause: _cause, ...unhurried } = request;
    expect(spanOf(unhurried)?.attributes).toMatchObject({
      'k8s.event': 'modified',
      'k8s.kind': 'Deployment',
      'k8s.object.key': 'a/web',
      'k8s.resource_version': '7',
    });
  });

  it('begins again at a removal at once, which leaves no mark, and links the write before it', () => {
    const object = web(2, { annotations });
    const removed = spanOf({ ...request, change: { type: 'deleted', object, finalStateUnknown: false } });
    expect(removed?.parentSpanContext).toBeUndefined();
    expect(removed?.links.map((link) => link.context.spanId)).toEqual(['b7ad6b7169203331']);
    const marked = web(2, { annotations, deletionTimestamp: '2026-01-01T00:00:00Z' });
    const ended = spanOf({
      ...request,
      change: { type: 'deleted', object: marked, finalStateUnknown: false },
    });
    expect(ended?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });

  it('costs the queue nothing where tracing is off', () => {
    expect(start(trace.getTracer('nobody'))).toBeUndefined();
  });
});
