import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ApiRequest, ApiResponse } from './http/index.js';
import { StatusError } from './errors/index.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Runs a writing request in a span that continues the trace its client named; reads are too many for spans. */
export function inRequestSpan(request: ApiRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  if (READS.has(request.method)) return work();
  const parent = propagation.extract(context.active(), request.headers);
  const options = {
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': request.method, 'url.path': request.path },
  };
  return trace
    .getTracer('rollkeeper-api-server')
    .startActiveSpan(request.method, options, parent, async (span) => {
      try {
        const answer = await work();
        span.setAttribute('http.response.status_code', answer.status);
        return answer;
      } catch (error) {
        span.setAttribute(
          'http.response.status_code',
          error instanceof StatusError ? error.status.code : 500,
        );
        span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
        throw error;
      } finally {
        span.end();
      }
    });
}
