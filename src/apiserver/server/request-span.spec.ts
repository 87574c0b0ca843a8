import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activeAnnotation } from '../../machinery/trace-context/index.js';
import { badRequest } from '../schema/errors/index.js';
import type { ApiRequest } from '../http/index.js';
import { inRequestSpan } from './request-span.js';

const exporter = new InMemorySpanExporter();
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const CLIENT_SPAN = 'b7ad6b7169203331';

function aRequest(method: string, more: Record<string, string> = {}): ApiRequest {
  const headers = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01`, ...more };
  return { method, path: '/api/v1/pods', headers } as unknown as ApiRequest;
}

beforeAll(() => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => {
  trace.disable();
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

  describe('with a client whose own span covers the request', () => {
    const served = async (tracestate: string) => {
      let annotation: string | undefined;
      await inRequestSpan(aRequest('POST', { tracestate }), async () => {
        annotation = activeAnnotation(0);
        return { status: 201, body: {} };
      });
      return { annotation, spans: exporter.getFinishedSpans() };
    };

    it.each([`rollkeeper=${CLIENT_SPAN}`, `other=1, rollkeeper=${CLIENT_SPAN},more=2`])(
      'makes no span, and lets what is written go on from the client’s: tracestate %s',
      async (tracestate) => {
        const { annotation, spans } = await served(tracestate);
        expect(spans).toEqual([]);
        expect(annotation).toContain(`00-${TRACE}-${CLIENT_SPAN}-01;at=`);
      },
    );

    it.each(['rollkeeper=c7ad6b7169203331', `other=${CLIENT_SPAN}`, ''])(
      'makes one all the same where it was another span that covers it, or none: tracestate "%s"',
      async (tracestate) => {
        const { annotation, spans } = await served(tracestate);
        expect(spans.map((span) => span.parentSpanContext?.spanId)).toEqual([CLIENT_SPAN]);
        expect(annotation).toContain(spans[0]?.spanContext().spanId);
      },
    );
  });

  it('leaves reads without a span', async () => {
    await inRequestSpan(aRequest('GET'), () => Promise.resolve({ status: 200, body: {} }));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
