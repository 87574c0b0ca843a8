import type { Span, Tracer } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { errorMessage } from '../errors/index.js';
import { qualifiedResource } from '../kubernetes/index.js';
import { coverRequests } from '../trace-context/index.js';
import type { ApiWrite } from './around-writes.js';
import { WriteInterceptingClient } from './around-writes.js';
import type { ApiClient } from './api-client.js';
import { ApiStatusError, isConflict } from './api-status-error.js';

/** Names of the attributes of an API write's span. */
export const API_WRITE_ATTRIBUTES = {
  verb: 'k8s.verb',
  resource: 'k8s.resource',
  subresource: 'k8s.subresource',
  namespace: 'k8s.namespace.name',
  name: 'k8s.object.name',
  statusCode: 'http.response.status_code',
  conflict: 'rollkeeper.conflict',
} as const;

/**
 * `client`, with one client span around every write, which covers the request for the server as well; a conflict is
 * marked, since it is not unusual.
 */
export function withSpans(client: ApiClient, tracer: Tracer): ApiClient {
  return new WriteInterceptingClient(client, (write, send) => {
    const span = tracer.startSpan(spanName(write), { kind: SpanKind.CLIENT });
    // The context that is active names the trace as well.
    if (!span.isRecording()) return send();
    span.setAttributes(attributesOf(write));
    coverRequests(span);
    return context.with(trace.setSpan(context.active(), span), () => traced(span, send));
  });
}

async function traced<T>(span: Span, send: () => Promise<T>): Promise<T> {
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

function spanName({ verb, type, subresource }: ApiWrite): string {
  return `${verb} ${type.resource}${subresource ? `/${subresource}` : ''}`;
}

function attributesOf({ verb, type, ref, subresource }: ApiWrite): Record<string, string> {
  return {
    [API_WRITE_ATTRIBUTES.verb]: verb,
    [API_WRITE_ATTRIBUTES.resource]: qualifiedResource(type),
    [API_WRITE_ATTRIBUTES.name]: ref.name,
    ...(ref.namespace ? { [API_WRITE_ATTRIBUTES.namespace]: ref.namespace } : {}),
    ...(subresource ? { [API_WRITE_ATTRIBUTES.subresource]: subresource } : {}),
  };
}
