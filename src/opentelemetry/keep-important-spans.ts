import type { Context } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ReadableSpan, Sampler, Span, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { SamplingDecision } from '@opentelemetry/sdk-trace-base';

/** Limit of unsampled traces remembered while their syncs run. */
const MAX_TRACES = 256;
const MAX_SPANS_OF_A_TRACE = 256;

/** A sync or an API request: kept or dropped as a whole. */
const UNITS: ReadonlySet<SpanKind> = new Set([SpanKind.CONSUMER, SpanKind.SERVER]);

/**
 * Wraps `sampler` so that dropped spans are still recorded, unsampled, and {@link KeepImportantSpans} can judge them.
 */
export function recordingAll(sampler: Sampler): Sampler {
  return {
    shouldSample: (...args) => {
      const result = sampler.shouldSample(...args);
      const drops = result.decision === SamplingDecision.NOT_RECORD;
      return drops ? { ...result, decision: SamplingDecision.RECORD } : result;
    },
    toString: () => `RecordingAll{${sampler.toString()}}`,
  };
}

/**
 * Exports sampled spans, and of the others every unit (a sync or a request) that failed or was slow, or that made a
 * request which did, together with the spans below it. Its top span becomes a root with a link to its parent, because
 * the parent was not kept. Memory is bounded: the oldest trace is dropped first.
 */
export class KeepImportantSpans implements SpanProcessor {
  private readonly unsampled = new Map<string, ReadableSpan[]>();

  constructor(
    private readonly next: SpanProcessor,
    private readonly options: { readonly slowMs: number },
  ) {}

  /** Number of spans remembered now. */
  get size(): number {
    let spans = 0;
    for (const ofTrace of this.unsampled.values()) spans += ofTrace.length;
    return spans;
  }

  onStart(span: Span, parentContext: Context): void {
    this.next.onStart(span, parentContext);
  }

  onEnd(span: ReadableSpan): void {
    if (isSampled(span)) return this.next.onEnd(span);
    const { traceId } = span.spanContext();
    if (!UNITS.has(span.kind)) return this.remember(traceId, span);
    const { others, unit } = divide(span, this.unsampled.get(traceId) ?? []);
    if (others.length > 0) this.unsampled.set(traceId, others);
    else this.unsampled.delete(traceId);
    if (!unit.some((each) => (each === span || each.kind === SpanKind.CLIENT) && this.isImportant(each)))
      return;
    const kept = new Set(unit.map((each) => each.spanContext().spanId));
    for (const each of unit) this.next.onEnd(asSampled(each, kept));
  }

  forceFlush(): Promise<void> {
    return this.next.forceFlush();
  }

  shutdown(): Promise<void> {
    this.unsampled.clear();
    return this.next.shutdown();
  }

  private isImportant({ duration: [seconds, nanoseconds], status }: ReadableSpan): boolean {
    return status.code === SpanStatusCode.ERROR || seconds * 1000 + nanoseconds / 1e6 >= this.options.slowMs;
  }

  private remember(traceId: string, span: ReadableSpan): void {
    const spans = this.unsampled.get(traceId) ?? [];
    if (spans.length < MAX_SPANS_OF_A_TRACE) spans.push(span);
    this.unsampled.set(traceId, spans);
    if (this.unsampled.size <= MAX_TRACES) return;
    const [oldest] = this.unsampled.keys();
    if (oldest !== undefined) this.unsampled.delete(oldest);
  }
}

function isSampled(span: ReadableSpan): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

/**
 * Splits spans into the unit below `root`, with the span right above it (the wait in the queue) if available, and the
 * rest.
 */
function divide(
  root: ReadableSpan,
  spans: readonly ReadableSpan[],
): { unit: ReadableSpan[]; others: ReadableSpan[] } {
  const parents = new Map(spans.map((span) => [idOf(span), span.parentSpanContext?.spanId]));
  const rootId = idOf(root);
  const isBelow = (span: ReadableSpan): boolean => {
    for (let id = parents.get(idOf(span)), steps = 0; id && steps < 32; id = parents.get(id), steps++)
      if (id === rootId) return true;
    return false;
  };
  const unit = [root];
  const others: ReadableSpan[] = [];
  for (const span of spans) {
    if (idOf(span) === root.parentSpanContext?.spanId || isBelow(span)) unit.push(span);
    else others.push(span);
  }
  return { unit, others };
}

function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

function asSampled(span: ReadableSpan, kept: ReadonlySet<string>): ReadableSpan {
  const spanContext = { ...span.spanContext(), traceFlags: TraceFlags.SAMPLED };
  const copy = derived(span, { spanContext: { value: () => spanContext } });
  const parent = span.parentSpanContext;
  if (!parent || kept.has(parent.spanId)) return copy;
  return derived(copy, {
    parentSpanContext: { value: undefined },
    links: { value: [...span.links, { context: parent }] },
  });
}

/** The span with other values for some of its properties. */
function derived(span: ReadableSpan, changed: PropertyDescriptorMap): ReadableSpan {
  return Object.create(span, changed) as ReadableSpan;
}
