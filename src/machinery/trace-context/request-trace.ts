import type { Context, Span, SpanContext } from '@opentelemetry/api';
import { INVALID_TRACEID, context, trace } from '@opentelemetry/api';
import { EMPTY_CONTEXT } from './linked-context.js';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

/**
 * Marks the span that tells all there is to tell of the requests made below it, so that the server needs none. The mark is
 * on the span, not in the context, which is inherited: a span below that one covers nothing of itself.
 */
const COVERS = Symbol('rollkeeper: covers its requests');
const REQUEST = Symbol('rollkeeper: the request that is covered');

interface MarkedSpanContext extends SpanContext {
  [COVERS]?: true;
  [REQUEST]?: CoveredRequest | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** From here on, `span` covers the requests made in its context: a client's span around one request, say. */
export function coverRequests(span: Span): void {
  (span.spanContext() as MarkedSpanContext)[COVERS] = true;
}

/** Filled in by the transport, for who tells of a request as a part of another span. */
export interface CoveredRequest {
  statusCode?: number;
}

/**
 * Runs `work`, of whose requests there is nothing to tell that the span does not say already.
 * @param request told with which status it was answered
 */
export function coveredBySpan<T>(spanContext: SpanContext, work: () => T, request?: CoveredRequest): T {
  return context.with(trace.setSpanContext(context.active(), covering(spanContext, request)), work);
}

/** Says with which status the request was answered that is made in this context. */
export function tellStatus(statusCode: number): void {
  const span = trace.getActiveSpan();
  const spanContext: MarkedSpanContext | undefined = span?.spanContext();
  const request = spanContext?.[REQUEST];
  if (request) request.statusCode = statusCode;
  else span?.setAttribute('http.response.status_code', statusCode);
}

/** Whether the context's span covers the request that is made, or served, in it. */
export function isCovered(requestContext: Context): boolean {
  const spanContext: MarkedSpanContext | undefined = trace.getSpanContext(requestContext);
  return spanContext?.[COVERS] === true;
}

/**
 * Names the active span to the server, as W3C Trace Context has it. Of one that covers the request, `tracestate` says so
 * with the span's id: whatever puts a span of its own in between names itself in `traceparent`, and the two differ.
 */
export function writeTraceHeaders(headers: Record<string, string>): void {
  const active = context.active();
  const spanContext = trace.getSpanContext(active);
  if (!spanContext || spanContext.traceId === INVALID_TRACEID) return;
  headers['traceparent'] = formatTraceparent(spanContext);
  if (isCovered(active)) headers['tracestate'] = `${VENDOR}=${spanContext.spanId}`;
}

/** The context that a request's headers name, covered where they say so. */
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
