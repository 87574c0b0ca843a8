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

type KeptSpan = Omit<ShownSpan, 'replica'>;

/**
 * The spans of the last traces that this process had a part in, in memory: bounded in traces and in spans of each.
 *
 * What is shown of a span is picked when it ends, not when somebody looks: a span of the SDK holds on to many small
 * objects, which the garbage collector would copy from generation to generation.
 */
export class RecentTraces implements SpanProcessor {
  private readonly traces = new Map<string, KeptSpan[]>();

  constructor(
    private readonly replica: string,
    private readonly limit: number,
  ) {}

  /** Oldest first; empty where the trace is not known (any more). */
  of(traceId: string): readonly ShownSpan[] {
    return (this.traces.get(traceId) ?? [])
      .map((span) => ({ ...span, replica: this.replica }))
      .sort((a, b) => a.startMs - b.startMs);
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const spans = this.traces.get(traceId);
    if (spans) {
      if (spans.length < SPANS_OF_A_TRACE) spans.push(kept(span));
      return;
    }
    this.traces.set(traceId, [kept(span)]);
    if (this.traces.size <= this.limit) return;
    const [oldest] = this.traces.keys();
    if (oldest !== undefined) this.traces.delete(oldest);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {
    this.traces.clear();
  }
}

function kept(span: ReadableSpan): KeptSpan {
  return {
    spanId: span.spanContext().spanId,
    ...(span.parentSpanContext ? { parentId: span.parentSpanContext.spanId } : {}),
    name: span.name,
    startMs: hrTimeToMilliseconds(span.startTime),
    durationMs: hrTimeToMilliseconds(span.duration),
    failed: span.status.code === SpanStatusCode.ERROR,
    attributes: span.attributes,
  };
}
