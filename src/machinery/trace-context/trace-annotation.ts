import type { Context, Link, SpanContext } from '@opentelemetry/api';
import { context, trace } from '@opentelemetry/api';
import { toRfc3339 } from '../clock/index.js';
import { EMPTY_CONTEXT } from './linked-context.js';
import { coveredBySpan, isCovered } from './request-trace.js';
import { contextOfTraceparent, formatTraceparent, linksTo, parseTraceparent } from './traceparent.js';

/**
 * Names the span of the last traced write of an object: `00-<trace>-<span>-01;at=<RFC 3339>`. Who sees the change goes on
 * with that trace. Belongs to the object alone: it is never copied to another one, and never asks for anything.
 */
export const TRACE_ANNOTATION = 'rollkeeper.dev/traceparent';

/**
 * A change seen so long after the write that the annotation names is another story: it begins a trace of its own, with a
 * link. Needed where others write without tracing (a kubelet), so that the annotation outlives its cause.
 */
export const TRACE_CONTINUES_MS = 15 * 60_000;

const AT = ';at=';
/** Where the trace's id begins: after the version, `00-`. */
const AT_TRACE_ID = 3;

interface Annotated {
  readonly metadata: { annotations?: Record<string, string> };
}

/** Notes the active span on an object that is about to be written. See {@link activeAnnotation}. */
export function annotateWithActiveSpan(object: Annotated, nowMs: number): void {
  const value = activeAnnotation(nowMs);
  if (value === undefined) return;
  object.metadata.annotations = { ...object.metadata.annotations, [TRACE_ANNOTATION]: value };
}

/**
 * The annotation's value for the active span: one that records here, or one elsewhere that covers the request which is
 * served. Undefined outside of both.
 */
export function activeAnnotation(nowMs: number): string | undefined {
  const active = context.active();
  const span = trace.getSpan(active);
  if (!span || !(span.isRecording() || isCovered(active))) return undefined;
  return formatTraceparent(span.spanContext()) + AT + secondOf(nowMs);
}

let lastSecond = { second: 0, text: '' };

/** RFC 3339, remembered: writes come by the hundred in a second. */
function secondOf(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: toRfc3339(nowMs) };
  return lastSecond.text;
}

/** Where the trace of an object's last write goes on. */
export interface AnnotatedTrace {
  readonly parent: Context;
  readonly links: Link[];
}

/**
 * Reads the annotation: the parent while it is fresh, later a link.
 * @param options.byLastWrite whether it was the last write that is being followed; if not, it is a link only
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

/** The write that an object names as its last one, however long ago. */
export function writeOf(object: ReadableObject): SpanContext | undefined {
  return parseTraceparent(readAnnotation(object).traceparent);
}

/** Whether the last write that an object names belongs to the trace. Parses nothing: asked of every change of a burst. */
export function isWrittenIn(object: ReadableObject, traceId: string): boolean {
  return object?.metadata.annotations?.[TRACE_ANNOTATION]?.startsWith(traceId, AT_TRACE_ID) ?? false;
}

/** Runs `work`, whose requests only end what the last write of the object began: its span tells of them as well. */
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
