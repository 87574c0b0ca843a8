import type { Context, Span, SpanContext } from '@opentelemetry/api';
import { INVALID_TRACEID, context, trace } from '@opentelemetry/api';
import { EMPTY_CONTEXT } from './linked-context.js';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

/**
 * Marks a span that already describes its child requests; the server then creates none. The mark is on the span, not in
 * the context, which is inherited: a span below it covers nothing.
 */
const COVERS = Symbol('rollkeeper: covers its requests');
const REQUEST = Symbol('rollkeeper: the request that is covered');

interface MarkedSpanContext extends SpanContext {
  [COVERS]?: true;
  [REQUEST]?: CoveredRequest | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** From here on, `span` covers the requests made in its context, for example a client's span around one request. */
export function coverRequests(span: Span): void {
  const context: MarkedSpanContext = span.spanContext();
  context[COVERS] = true;
}

/** Filled in by the transport, for callers that record a request as part of another span. */
export interface CoveredRequest {
  statusCode?: number;
}

/**
 * Runs `work`, whose requests need no spans because the given span describes them.
 * @param request receives the status of the answer
 */
export function coveredBySpan<T>(spanContext: SpanContext, work: () => T, request?: CoveredRequest): T {
  return context.with(trace.setSpanContext(context.active(), covering(spanContext, request)), work);
}

/** Records the response status of the request made in this context. */
export function tellStatus(statusCode: number): void {
  const span = trace.getActiveSpan();
  const spanContext: MarkedSpanContext | undefined = span?.spanContext();
  const request = spanContext?.[REQUEST];
  if (request) request.statusCode = statusCode;
  else span?.setAttribute('http.response.status_code', statusCode);
}

/** Whether the context's span covers the request made, or served, in it. */
export function isCovered(requestContext: Context): boolean {
  const spanContext: MarkedSpanContext | undefined = trace.getSpanContext(requestContext);
  return spanContext?.[COVERS] === true;
}

/**
 * Sends the active span to the server as W3C Trace Context. For a covering span, `tracestate` carries its id: if a
 * proxy adds a span in between, `traceparent` names that span and the two differ.
 */
export function writeTraceHeaders(headers: Record<string, string>): void {
  const active = context.active();
  const spanContext = trace.getSpanContext(active);
  if (!spanContext || spanContext.traceId === INVALID_TRACEID) return;
  headers['traceparent'] = formatTraceparent(spanContext);
  if (isCovered(active)) headers['tracestate'] = `${VENDOR}=${spanContext.spanId}`;
}

/** The context from a request's headers, covered if they say so. */
export function readTraceHeaders({ traceparent, tracestate }: Headers): Context {
  const parent = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
  if (!parent) return EMPTY_CONTEXT;
  const isCovering = typeof tracestate === 'string' && namesAsCovering(tracestate, parent);
  return trace.setSpanContext(EMPTY_CONTEXT, isCovering ? covering(parent) : parent);
}

const VENDOR = 'rollkeeper';

function namesAsCovering(tracestate: string, { spanId }: SpanContext): boolean {
  const mark = `${VENDOR}=${spanId}`;
  return tracestate === mark || tracestate.split(',').some((entry) => entry.trim() === mark);
}

function covering(spanContext: SpanContext, request?: CoveredRequest): MarkedSpanContext {
  return { ...spanContext, [COVERS]: true, [REQUEST]: request };
}
