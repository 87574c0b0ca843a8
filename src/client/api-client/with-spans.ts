import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { CoveredRequest } from '@rollkeeper/machinery/trace-context';
import { coverRequests, coveredBySpan } from '@rollkeeper/machinery/trace-context';
import type { ApiWrite } from './around-writes.js';
import { WriteInterceptingClient } from './around-writes.js';
import type { ApiClient } from './api-client.js';
import { ApiStatusError, isConflict } from './api-status-error.js';

/** Attribute names of an API write, as span or event. */
export const API_WRITE_ATTRIBUTES = {
  verb: 'k8s.verb',
  resource: 'k8s.resource',
  subresource: 'k8s.subresource',
  /** `namespace/name`, or `name` if cluster-scoped. */
  key: 'k8s.object.key',
  statusCode: 'http.response.status_code',
  conflict: 'rollkeeper.conflict',
  /** Only for an event. */
  tookMs: 'rollkeeper.took_ms',
} as const;

/**
 * Wraps `client` so that every write is traced. A successful write below an active span, such as a sync, becomes an
 * event of that span: verb, resource, object, status and duration. A failed write, or one outside of spans, gets its
 * own span. A conflict is marked as expected. In both cases the request asks the server not to create a span.
 */
export function withSpans(client: ApiClient, tracer: Tracer, clock: Clock): ApiClient {
  const spans = new WriteSpans(tracer, clock);
  return new WriteInterceptingClient(client, (write, send) => {
    const active = trace.getSpan(context.active());
    return active?.isRecording() ? spans.note(active, write, send) : spans.around(write, send);
  });
}

class WriteSpans {
  constructor(
    private readonly tracer: Tracer,
    private readonly clock: Clock,
  ) {}

  around<T>(write: ApiWrite, send: () => Promise<T>): Promise<T> {
    const span = this.start(write);
    // The active context is propagated even if not recorded.
    if (!span.isRecording()) return send();
    coverRequests(span);
    return context.with(trace.setSpan(context.active(), span), () => ending(span, send));
  }

  /** Records the write as an event of `active`, which covers the request and is named in the written object. */
  async note<T>(active: Span, write: ApiWrite, send: () => Promise<T>): Promise<T> {
    const startedMs = this.clock.monotonicNow();
    const tookMs = (): number => this.clock.monotonicNow() - startedMs;
    const request: CoveredRequest = {};
    try {
      const answer = await coveredBySpan(active.spanContext(), send, request);
      const attributes = attributesOf(write);
      if (request.statusCode !== undefined) attributes[API_WRITE_ATTRIBUTES.statusCode] = request.statusCode;
      attributes[API_WRITE_ATTRIBUTES.tookMs] = Math.round(tookMs() * 1000) / 1000;
      active.addEvent(nameOf(write), attributes);
      return answer;
    } catch (error) {
      const endedMs = this.clock.now();
      const span = this.start(write, endedMs - tookMs());
      describeFailure(span, error);
      span.end(endedMs);
      throw error;
    }
  }

  private start(write: ApiWrite, startTime?: number): Span {
    const span = this.tracer.startSpan(nameOf(write), { kind: SpanKind.CLIENT, startTime });
    if (span.isRecording()) span.setAttributes(attributesOf(write));
    return span;
  }
}

async function ending<T>(span: Span, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    describeFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}

function describeFailure(span: Span, error: unknown): void {
  if (error instanceof ApiStatusError) span.setAttribute(API_WRITE_ATTRIBUTES.statusCode, error.code);
  const conflict = isConflict(error);
  if (conflict) span.setAttribute(API_WRITE_ATTRIBUTES.conflict, true);
  else span.recordException(error instanceof Error ? error : String(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
}

function nameOf({ verb, type, subresource }: ApiWrite): string {
  return `${verb} ${type.resource}${subresource ? `/${subresource}` : ''}`;
}

function attributesOf({ verb, type, ref, subresource }: ApiWrite): Attributes {
  return {
    [API_WRITE_ATTRIBUTES.verb]: verb,
    [API_WRITE_ATTRIBUTES.resource]: qualifiedResource(type),
    [API_WRITE_ATTRIBUTES.key]: keyOf(ref),
    ...(subresource ? { [API_WRITE_ATTRIBUTES.subresource]: subresource } : {}),
  };
}
