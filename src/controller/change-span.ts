import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { SpanKind } from '@opentelemetry/api';
import type { Clock } from '../clock/index.js';
import { keyOf } from '../kubernetes/index.js';
import { formatTraceparent, traceOf, writeOf } from '../trace-context/index.js';
import type { EnqueueRequest } from './controller-definition.js';
import { differingParts } from './differing-parts.js';

/** Of more merged changes than this, only the number is told. */
const NAMED_MERGES = 16;

export interface ChangeSpanOptions {
  readonly clock: Clock;
  readonly controller: string;
  readonly tracer: Tracer;
}

/**
 * The leader's span of the changes that become one add of a key: a child of the write that made the first of them, where
 * the object says which one that was. It lasts until the add goes to the queue, so its length is how long a burst was
 * held back.
 */
export class ChangeSpan {
  /** For the queue. */
  readonly traceparent: string;
  private merged = 0;

  private constructor(private readonly span: Span) {
    this.traceparent = formatTraceparent(span.spanContext());
  }

  /** Undefined where tracing is off. */
  static start(
    request: EnqueueRequest,
    { clock, controller, tracer }: ChangeSpanOptions,
  ): ChangeSpan | undefined {
    const byLastWrite = !wasRemovedAtOnce(request);
    const { links, parent } = traceOf(request.change?.object, clock.now(), { byLastWrite });
    const span = tracer.startSpan('change seen', { kind: SpanKind.PRODUCER, links }, parent);
    if (!span.isRecording()) return undefined;
    const { change, delayMs, priority = 'normal', reason = 'child-change', ref } = request;
    span.setAttributes({
      'rollkeeper.controller': controller,
      'rollkeeper.key': keyOf(ref),
      'rollkeeper.reason': reason,
      'rollkeeper.priority': priority,
      ...(delayMs ? { 'rollkeeper.delay_ms': delayMs } : {}),
      ...changeAttributes(request),
      ...(change?.type === 'modified'
        ? { 'rollkeeper.differs': differingParts(change.old, change.object) }
        : {}),
    });
    return new ChangeSpan(span);
  }

  get isOpen(): boolean {
    return this.span.isRecording();
  }

  /** One more change that the same add stands for: a link to the write that made it. */
  merge(request: EnqueueRequest): void {
    this.merged += 1;
    const { change } = request;
    const context = this.merged <= NAMED_MERGES ? writeOf(change?.object) : undefined;
    if (context && change) this.span.addLink({ context, attributes: objectAttributes(change) });
  }

  /** @param isNeeded false: there turned out to be nothing to do, and the trace ends here */
  end({ isNeeded = true }: { isNeeded?: boolean } = {}): void {
    if (!this.isOpen) return;
    if (this.merged > 0) this.span.setAttribute('rollkeeper.merged', this.merged);
    if (!isNeeded) this.span.setAttribute('rollkeeper.needed', false);
    this.span.end();
  }
}

/** The write that removed it has left nothing on it: what it names is an earlier write, of another story. */
function wasRemovedAtOnce({ change }: EnqueueRequest): boolean {
  return change?.type === 'deleted' && change.object.metadata.deletionTimestamp === undefined;
}

function changeAttributes({ cause, change }: EnqueueRequest): Attributes {
  return {
    ...(change ? { 'k8s.kind': change.object.kind, ...objectAttributes(change) } : {}),
    ...(cause
      ? {
          'k8s.kind': cause.type.kind,
          'k8s.resource_version': cause.resourceVersion,
        }
      : {}),
  };
}

/** Enough to find the change; all that a link says, of which there may be many. */
function objectAttributes({ object, type }: NonNullable<EnqueueRequest['change']>): Attributes {
  return {
    'k8s.object.key': keyOf(object.metadata),
    'k8s.resource_version': object.metadata.resourceVersion,
    'k8s.event': type,
  };
}
