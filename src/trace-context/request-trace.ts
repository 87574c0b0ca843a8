import type { Context } from '@opentelemetry/api';
import { INVALID_TRACEID, context, createContextKey, trace } from '@opentelemetry/api';
import { contextOfTraceparent, formatTraceparent } from './traceparent.js';

/**
 * The id of the span that tells all there is to tell of the requests of its context, so that the server needs none. It is
 * an id, because contexts are inherited: a span below that one covers nothing of itself.
 */
const COVERING_SPAN = createContextKey('rollkeeper: the span that covers the request');

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** `parent` with its span, which covers the requests made in it: a client's span around one request, say. */
export function coveringContext(parent: Context): Context {
  const spanContext = trace.getSpanContext(parent);
  return spanContext ? parent.setValue(COVERING_SPAN, spanContext.spanId) : parent;
}

/** Runs `work`, of whose requests there is nothing to tell that the active span does not say already. */
export function coveredByActiveSpan<T>(work: () => T): T {
  const active = context.active();
  return trace.getSpanContext(active) ? context.with(coveringContext(active), work) : work();
}

/** Whether the context's span covers the request that is made, or served, in it. */
export function isCovered(requestContext: Context): boolean {
  const covering = requestContext.getValue(COVERING_SPAN);
  return covering !== undefined && covering === trace.getSpanContext(requestContext)?.spanId;
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
  if (typeof traceparent !== 'string') return contextOfTraceparent(undefined);
  const parent = contextOfTraceparent(traceparent);
  return typeof tracestate === 'string' && namesAsCovering(tracestate, parent)
    ? coveringContext(parent)
    : parent;
}

const VENDOR = 'rollkeeper';

function namesAsCovering(tracestate: string, parent: Context): boolean {
  const spanContext = trace.getSpanContext(parent);
  if (!spanContext) return false;
  const mark = `${VENDOR}=${spanContext.spanId}`;
  return tracestate === mark || tracestate.split(',').some((entry) => entry.trim() === mark);
}
