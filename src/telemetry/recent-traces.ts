import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { hrTimeToMilliseconds } from '@opentelemetry/core';

/** A span as the console draws it. */
export interface ShownSpan {
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  /** Who made it. */
  readonly replica: string;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Of one trace, so many spans are kept. */
const SPANS_OF_A_TRACE = 300;

/** The spans of the last traces that this process had a part in, in memory: bounded in traces and in spans of each. */
export class RecentTraces implements SpanProcessor {
  private readonly traces = new Map<string, ReadableSpan[]>();

  constructor(
    private readonly replica: string,
    private readonly limit: number,
  ) {}

  /** Oldest first; empty where the trace is not known (any more). */
  of(traceId: string): readonly ShownSpan[] {
    return (this.traces.get(traceId) ?? [])
      .map((span) => this.shown(span))
      .sort((a, b) => a.startMs - b.startMs);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const spans = this.traces.get(traceId);
    if (spans) {
      if (spans.length < SPANS_OF_A_TRACE) spans.push(span);
      return;
    }
    this.traces.set(traceId, [span]);
    const [oldest] = this.traces.keys();
    if (this.traces.size > this.limit && oldest !== undefined) this.traces.delete(oldest);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    this.traces.clear();
  }

  private shown(span: ReadableSpan): ShownSpan {
    return {
      spanId: span.spanContext().spanId,
      ...(span.parentSpanContext ? { parentId: span.parentSpanContext.spanId } : {}),
      name: span.name,
      replica: this.replica,
      startMs: hrTimeToMilliseconds(span.startTime),
      durationMs: hrTimeToMilliseconds(span.duration),
      failed: span.status.code === SpanStatusCode.ERROR,
      attributes: span.attributes,
    };
  }
}
