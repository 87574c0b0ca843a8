import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { badRequest } from './errors/index.js';
import type { ApiRequest } from './http/index.js';
import { inRequestSpan } from './request-span.js';

const exporter = new InMemorySpanExporter();
const TRACE = '0af7651916cd43dd8448eb211c80319c';

function aRequest(method: string): ApiRequest {
  const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
  return { method, path: '/api/v1/pods', headers } as unknown as ApiRequest;
}

beforeAll(() => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  trace.disable();
  propagation.disable();
  context.disable();
});
beforeEach(() => exporter.reset());

describe('inRequestSpan', () => {
  it('continues the trace that the client named', async () => {
    await inRequestSpan(aRequest('POST'), () => Promise.resolve({ status: 201, body: {} }));
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 201,
    });
  });

  it('notes a refusal and passes it on', async () => {
    const refused = inRequestSpan(aRequest('PUT'), () => Promise.reject(badRequest('no')));
    await expect(refused).rejects.toThrow('no');
    expect(exporter.getFinishedSpans()[0]?.attributes['http.response.status_code']).toBe(400);
  });

  it('leaves reads without a span', async () => {
    await inRequestSpan(aRequest('GET'), () => Promise.resolve({ status: 200, body: {} }));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
