import type { Context, Link, SpanContext } from '@opentelemetry/api';
import { context, trace } from '@opentelemetry/api';
import { toRfc3339 } from '../clock/index.js';
import { EMPTY_CONTEXT } from './linked-context.js';
import { coveredBySpan, isCovered } from './request-trace.js';
import { contextOfTraceparent, formatTraceparent, linksTo, parseTraceparent } from './traceparent.js';

/**
 * The span of an object's last traced write: `00-<trace>-<span>-01;at=<RFC 3339>`. Observers of the change continue
 * that trace. It belongs to this object only: it is never copied to another one and never causes work.
 */
export const TRACE_ANNOTATION = 'rollkeeper.dev/traceparent';

/**
 * A change seen this long after the annotated write is unrelated: it begins a trace of its own, with a link. Needed
 * because other clients (a kubelet) write without tracing, so the annotation outlives its cause.
 */
export const TRACE_CONTINUES_MS = 15 * 60_000;

const AT = ';at=';
/** Offset of the trace id: after the version, `00-`. */
const AT_TRACE_ID = 3;

interface Annotated {
  readonly metadata: { annotations?: Record<string, string> };
}

/** Annotates an object about to be written with the active span. See {@link activeAnnotation}. */
export function annotateWithActiveSpan(object: Annotated, nowMs: number): void {
  const value = activeAnnotation(nowMs);
  if (value === undefined) return;
  object.metadata.annotations = { ...object.metadata.annotations, [TRACE_ANNOTATION]: value };
}

/**
 * The annotation's value for the active span: one recorded here, or a remote one that covers the request being served.
 * Undefined without either.
 */
export function activeAnnotation(nowMs: number): string | undefined {
  const active = context.active();
  const span = trace.getSpan(active);
  if (!span || !(span.isRecording() || isCovered(active))) return undefined;
  return formatTraceparent(span.spanContext()) + AT + secondOf(nowMs);
}

let lastSecond = { second: 0, text: '' };

/** RFC 3339, cached: there are hundreds of writes in a second. */
function secondOf(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: toRfc3339(nowMs) };
  return lastSecond.text;
}

/** The trace that an object's last write continues. */
export interface AnnotatedTrace {
  readonly parent: Context;
  readonly links: Link[];
}

/**
 * Reads the annotation: a parent while it is fresh, later a link.
 * @param options.byLastWrite whether the change being followed is the last write; if not, it is only a link
 */
export function traceOf(
  object: ReadableObject,
  nowMs: number,
  options: { readonly byLastWrite: boolean } = { byLastWrite: true },
): AnnotatedTrace {
  const { at, traceparent } = readAnnotation(object);
  if (traceparent === undefined) return { parent: EMPTY_CONTEXT, links: [] };
  const isFresh = options.byLastWrite && nowMs - Date.parse(at ?? '') <= TRACE_CONTINUES_MS;
  return isFresh
    ? { parent: contextOfTraceparent(traceparent), links: [] }
    : { parent: EMPTY_CONTEXT, links: linksTo([traceparent]) };
}

/** The annotated last write of an object, regardless of its age. */
export function writeOf(object: ReadableObject): SpanContext | undefined {
  return parseTraceparent(readAnnotation(object).traceparent);
}

/**
 * Whether an object's annotated last write belongs to the trace. Does not parse: it is called for every change of a
 * burst.
 */
export function isWrittenIn(object: ReadableObject, traceId: string): boolean {
  return object?.metadata.annotations?.[TRACE_ANNOTATION]?.startsWith(traceId, AT_TRACE_ID) ?? false;
}

/** Runs `work`, whose requests only finish what the object's last write began: its span covers them as well. */
export function coveredByWriteOf<T>(object: ReadableObject, work: () => T): T {
  const write = writeOf(object);
  return write ? coveredBySpan(write, work) : work();
}

type ReadableObject =
  { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } } | undefined;

function readAnnotation(object: ReadableObject): { readonly traceparent?: string; readonly at?: string } {
  const text = object?.metadata.annotations?.[TRACE_ANNOTATION];
  if (text === undefined) return {};
  const end = text.indexOf(AT);
  return end < 0
    ? { traceparent: text }
    : { traceparent: text.slice(0, end), at: text.slice(end + AT.length) };
}
