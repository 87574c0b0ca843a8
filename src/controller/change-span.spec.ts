import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../clock/index.js';
import type { Deployment } from '../kubernetes/index.js';
import { DEPLOYMENTS } from '../kubernetes/index.js';
import { TRACE_ANNOTATION, parseTraceparent } from '../trace-context/index.js';
import { differingParts, traceChange } from './change-span.js';

const WRITE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function web(replicas: number, metadata: object = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'a', name: 'web', resourceVersion: '7', ...metadata },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: {} },
  };
}

describe('what differs', () => {
  it('is named by section and field, noise left out', () => {
    const before = web(1, { resourceVersion: '6', labels: { a: '1' } });
    expect(differingParts(before, web(2))).toEqual(['metadata.labels', 'spec.replicas']);
  });

  it('is nothing between equals, and a whole section that was not there', () => {
    expect(differingParts(web(1), web(1, { resourceVersion: '8' }))).toEqual([]);
    expect(differingParts(web(1), { ...web(1), status: { replicas: 1 } } as Deployment)).toEqual(['status']);
  });
});

describe('the span of a change', () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const annotations = { [TRACE_ANNOTATION]: `${WRITE};at=2026-01-01T00:00:00Z` };
  const request = {
    ref: { namespace: 'a', name: 'web' },
    cause: { type: DEPLOYMENTS, resourceVersion: '7' },
    change: { type: 'modified', old: web(1), object: web(2, { annotations }) },
    reason: 'user-change',
    priority: 'high',
  } as const;

  it('goes on with the write that the object names, and says what was seen', () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const traceparent = traceChange(request, {
      clock,
      controller: 'deployment',
      tracer: provider.getTracer('test'),
    });
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(span?.spanContext()).toMatchObject({ spanId: parseTraceparent(traceparent)?.spanId });
    expect(span?.attributes).toMatchObject({
      'k8s.event': 'modified',
      'k8s.kind': 'Deployment',
      'k8s.resource_version': '7',
      'rollkeeper.differs': ['metadata.annotations', 'spec.replicas'],
      'rollkeeper.key': 'a/web',
    });
  });

  it('costs the queue nothing where tracing is off', () => {
    const off = { clock, controller: 'deployment', tracer: trace.getTracer('nobody') };
    expect(traceChange(request, off)).toBeUndefined();
  });
});
