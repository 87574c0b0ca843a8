import type { Context, Link, SpanContext } from '@opentelemetry/api';
import { TraceFlags, context, isSpanContextValid, trace } from '@opentelemetry/api';
import { EMPTY_CONTEXT } from './linked-context.js';

/**
 * W3C Trace Context, as far as a queue and an annotation need it: https://www.w3.org/TR/trace-context/. Implemented
 * here because the SDK's propagator only reads and writes whole carriers, and only once registered.
 */
const SAMPLED: number = TraceFlags.SAMPLED;
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function formatTraceparent({ spanId, traceFlags, traceId }: SpanContext): string {
  const flags = traceFlags === SAMPLED ? '01' : traceFlags.toString(16).padStart(2, '0');
  return `00-${traceId}-${spanId}-${flags}`;
}

/** Undefined for anything that is not a valid `traceparent` of version 00. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  if (text === undefined || !TRACEPARENT.test(text)) return undefined;
  return {
    traceId: text.slice(3, 35),
    spanId: text.slice(36, 52),
    traceFlags: Number.parseInt(text.slice(53), 16),
    isRemote: true,
  };
}

/** The context in which a span becomes a child of the one that `traceparent` names; a root if it names none. */
export function contextOfTraceparent(traceparent: string | undefined): Context {
  const parent = parseTraceparent(traceparent);
  return parent ? trace.setSpanContext(EMPTY_CONTEXT, parent) : EMPTY_CONTEXT;
}

/** The active span as `traceparent`; undefined outside of spans, and if tracing is off. */
export function activeTraceparent(): string | undefined {
  const active = trace.getSpanContext(context.active());
  return active && isSpanContextValid(active) ? formatTraceparent(active) : undefined;
}

/** Links to the named spans; invalid ones are left out. */
export function linksTo(traceparents: readonly string[] | undefined): Link[] {
  return (traceparents ?? []).flatMap((traceparent) => {
    const spanContext = parseTraceparent(traceparent);
    return spanContext ? [{ context: spanContext }] : [];
  });
}
