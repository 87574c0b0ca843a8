import type { Attributes, HrTime } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor, TimedEvent } from '@opentelemetry/sdk-trace-base';
import { hrTimeToMilliseconds } from '@opentelemetry/core';

/** A span in the form that the console draws. */
export interface ShownSpan {
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  /** The replica that made it. */
  readonly replica: string;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly failed: boolean;
  /** The error of a failed span. */
  readonly error?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Things that happened within the span but have no span of their own, such as a write. */
  readonly events?: readonly ShownEvent[];
}

/** A moment within a span. */
interface ShownEvent {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Limit of spans kept per trace. */
const SPANS_OF_A_TRACE = 300;

/**
 * The spans of the most recent traces of this process, in memory: bounded in traces and in spans per trace.
 *
 * A span is reduced to the shown fields when it ends, not when it is read: an SDK span holds many small objects, which
 * the garbage collector would copy from generation to generation.
 */
export class RecentTraces implements SpanProcessor {
  private readonly traces = new Map<string, KeptSpan[]>();

  constructor(
    private readonly replica: string,
    private readonly limit: number,
  ) {}

  /** Oldest first; empty if the trace is unknown or forgotten. */
  of(traceId: string): readonly ShownSpan[] {
    return (this.traces.get(traceId) ?? [])
      .map((span) => span.shown(this.replica))
      .sort((a, b) => a.startMs - b.startMs);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const spans = this.traces.get(traceId);
    if (spans) {
      if (spans.length < SPANS_OF_A_TRACE) spans.push(new KeptSpan(span));
      return;
    }
    this.traces.set(traceId, [new KeptSpan(span)]);
    if (this.traces.size <= this.limit) return;
    const [oldest] = this.traces.keys();
    if (oldest !== undefined) this.traces.delete(oldest);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    this.traces.clear();
  }
}

/** The shown fields of an ended span. All have one shape and nothing is copied, because spans end by the thousand. */
class KeptSpan {
  private readonly spanId: string;
  private readonly parentId: string | undefined;
  private readonly name: string;
  private readonly startTime: HrTime;
  private readonly duration: HrTime;
  private readonly failed: boolean;
  private readonly error: string | undefined;
  private readonly attributes: Attributes;
  private readonly events: readonly TimedEvent[];

  constructor(span: ReadableSpan) {
    this.spanId = span.spanContext().spanId;
    this.parentId = span.parentSpanContext?.spanId;
    this.name = span.name;
    this.startTime = span.startTime;
    this.duration = span.duration;
    this.failed = span.status.code === SpanStatusCode.ERROR;
    this.error = span.status.message;
    this.attributes = span.attributes;
    this.events = span.events;
  }

  shown(replica: string): ShownSpan {
    const { attributes, error, events, failed, name, parentId, spanId } = this;
    return {
      spanId,
      ...(parentId === undefined ? {} : { parentId }),
      name,
      replica,
      startMs: hrTimeToMilliseconds(this.startTime),
      durationMs: hrTimeToMilliseconds(this.duration),
      failed,
      ...(error === undefined ? {} : { error }),
      attributes,
      ...(events.length === 0 ? {} : { events: events.map(shownEvent) }),
    };
  }
}

function shownEvent({ attributes = {}, name, time }: TimedEvent): ShownEvent {
  return { name, atMs: hrTimeToMilliseconds(time), attributes };
}
